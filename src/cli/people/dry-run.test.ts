// `--dry-run` of every command that deletes: it says what would be deleted, changes no row and no file, and fails like the
// command would.
import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { COMMANDS } from '#cli/commands.ts'
import { DRY_RUN_OPTION } from '#cli/kit/command.ts'
import { type TestDatabase, testDatabase } from '#test/support/app/database.ts'
import { everyRow } from '#test/support/http/every-response.ts'
import { commandHere } from '#test/support/processes/command-here.ts'

let database: TestDatabase
let folder: string
let env: Record<string, string>
const ids = { token: '', invitation: '', backup: '' }

before(async () => {
  database = await testDatabase()
  folder = await mkdtemp(join(tmpdir(), 'depot-dry-run-'))
  env = {
    DATABASE_URL: database.connectionString,
    DATA_DIR: join(folder, 'data'),
    BACKUP_TARGET: join(folder, 'target'),
    BACKUP_KEEP: '1',
    ACCOUNT_DELETION_DAYS: '7',
  }
  await json('seed', '--projects', '3')
  await json('user', 'create', '--username', 'mira', '--email', 'mira@example.org', '--random-password')
  await json('token', 'create', '--user', 'mira', '--scopes', 'USER_READ', '--name', 'A build')
  ids.token = (await json('token', 'list', '--user', 'mira')).tokens[0].id
  ids.invitation = (await json('invitation', 'create', '--uses', '3')).id
  ids.backup = (await json('backup')).name
})
after(async () => {
  await database?.close()
  await rm(folder, { recursive: true, force: true })
})

const run = (...args: string[]) => commandHere(args, env)

async function json(...args: string[]): Promise<ReturnType<typeof JSON.parse>> {
  const { code, stdout, stderr } = await run(...args, '--json')
  assert.equal(code, 0, stderr)
  return JSON.parse(stdout)
}

const state = async () => [await everyRow(database.db), (await readdir(folder, { recursive: true })).sort()]

/** The arguments of each command that deletes, and what its dry run prints. */
const CASES: Readonly<Record<string, () => { args: string[]; expected: RegExp }>> = {
  'user delete': () => ({
    args: ['mira'],
    expected: /^mira would be deleted with 7 days to undo the deletion:\nCollections +0\n[\s\S]*\nAccess tokens +1\n/,
  }),
  'user sign-out': () => ({ args: ['mira', '--tokens'], expected: /^Would be deleted:\nSessions +0\nTokens +1\n$/ }),
  'invitation revoke': () => ({
    args: [ids.invitation],
    expected: /^Would be revoked: the invitation \w+, used 0 of 3 times\n$/,
  }),
  'token revoke': () => ({
    args: [ids.token, '--user', 'mira'],
    expected: /^Would be revoked: the token \w+ \(A build\) of mira\n$/,
  }),
  backup: () => ({ args: [], expected: new RegExp(`^Would be deleted:\n${ids.backup}\n$`) }),
  seed: () => ({ args: ['--remove'], expected: /^Would remove 3 projects, \d+ accounts, / }),
  clean: () => ({ args: [], expected: /^Would be deleted:\nExpired uploads +0\n/ }),
}

for (const { name } of COMMANDS.filter(({ options }) => options?.includes(DRY_RUN_OPTION))) {
  test(`depot ${name} --dry-run changes nothing`, async () => {
    const found = CASES[name]?.()
    assert.ok(found !== undefined, `add arguments for \`depot ${name}\` to this test`)
    const was = await state()
    const { code, stdout, stderr } = await run(...name.split(' '), ...found.args, '--dry-run')
    assert.equal(code, 0, stderr)
    assert.match(stdout, found.expected)
    assert.equal((await json(...name.split(' '), ...found.args, '--dry-run')).dry_run, true)
    assert.deepEqual(await state(), was)
  })
}

test('a dry run fails where the command would, and is rejected where nothing is deleted', async () => {
  await json('user', 'role', 'mira', 'admin')
  for (const [args, code, message] of [
    [['user', 'delete', 'mira'], 1, /only admin/],
    [['user', 'delete', 'nobody'], 1, /user/],
    [['token', 'revoke', 'AbCdEfGh', '--user', 'mira'], 1, /access token/],
    [['invitation', 'revoke', 'AbCdEfGh'], 1, /invitation/],
    [['seed', '--projects', '3'], 2, /--dry-run needs --remove/],
    [['backup', join(folder, 'one.tar')], 2, /--dry-run is for backups at BACKUP_TARGET/],
  ] as const) {
    const outcome = await run(...args, '--dry-run')
    assert.deepEqual([outcome.code, outcome.stdout], [code, ''], outcome.stderr)
    assert.match(outcome.stderr, message)
  }
})
