// Commands that change an instance, run in this process: their effects, output and audit log entries.
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { emptyDatabase, type TestDatabase, testDatabase } from '#test/support/app/database.ts'
import { commandHere } from '#test/support/processes/command-here.ts'

let database: TestDatabase
let other: TestDatabase
let folder: string
before(async () => {
  database = await emptyDatabase()
  other = await testDatabase()
  folder = await mkdtemp(join(tmpdir(), 'depot-commands-'))
})
after(async () => {
  await database?.close()
  await other?.close()
  await rm(folder, { recursive: true, force: true })
})

const environmentOf = ({ connectionString }: TestDatabase, name: string) => ({
  DATABASE_URL: connectionString,
  DATA_DIR: join(folder, name),
})

/** The result of a command as it prints it. */
async function run(line: string, env = environmentOf(database, 'data')): Promise<ReturnType<typeof JSON.parse>> {
  const { code, stdout, stderr } = await commandHere([...line.split(' '), '--json'], env)
  assert.equal(code, 0, stderr)
  return JSON.parse(stdout)
}

async function logOf({ db }: TestDatabase): Promise<unknown[]> {
  const rows = await db.selectFrom('audit_entry').select(['action', 'actor_kind']).orderBy('id').execute()
  return rows.map(({ action, actor_kind }) => [action, actor_kind])
}

test('each command that changes something is in the audit log, with the command line as who did it', async () => {
  assert.ok((await run('migrate')).applied.length > 5)
  assert.deepEqual((await run('migrate')).applied, [])
  const invitation = await run('invitation create --uses 3 --email mira@example.org --expires 2d')
  assert.ok(invitation.url.endsWith(`/account/sign-up?invitation=${invitation.code}`))
  const { invitations } = await run('invitation list')
  assert.deepEqual([invitations.length, invitations[0].uses, invitations[0].code], [1, 3, undefined])
  await run(`invitation revoke ${invitation.id}`)
  assert.equal((await run('seed --projects 3')).projects.added, 3)
  await run('reindex')
  const archive = join(folder, 'backup.tar')
  assert.ok((await run(`backup ${archive}`)).rows > 0)
  await writeFile(join(folder, 'other.env'), `DATA_DIR=${join(folder, 'elsewhere')}\n`)
  assert.ok((await run(`move files --to ${join(folder, 'other.env')}`)).copied > 0)
  assert.equal((await run('seed --remove --yes')).projects, 3)
  await run('settings set name Lanterns')
  const actions = [
    'schema.migrated',
    'invitation.created',
    'invitation.revoked',
    'demo.written',
    'search.rebuild_requested',
    'backup.made',
    'files.moved',
    'demo.removed',
    'settings.changed',
  ]
  assert.deepEqual(
    await logOf(database),
    actions.map((action) => [action, 'command']),
  )
  const elsewhere = environmentOf(other, 'restored')
  const restored = await run(`restore ${archive} --quiet`, elsewhere)
  const log = await logOf(other)
  assert.deepEqual(log.at(-1), ['backup.restored', 'command'])
  const quietSince = async () => (await other.db.selectFrom('instance_copy').select('quiet_since').execute())[0]
  assert.ok((await quietSince())?.quiet_since instanceof Date)
  assert.deepEqual([(await run('resume', elsewhere)).resumed, (await run('resume', elsewhere)).resumed], [true, false])
  assert.equal((await quietSince())?.quiet_since, null)
  assert.deepEqual((await logOf(other)).at(-1), ['instance.resumed', 'command'])
  const { details } = await other.db
    .selectFrom('audit_entry')
    .select('details')
    .where('action', '=', 'backup.restored')
    .executeTakeFirstOrThrow()
  assert.deepEqual([(details as { id: string }).id, (details as { rows: number }).rows], [restored.id, restored.rows])
})

test('an account is renamed, and the former name stays reserved; the audit log is searched by text', async () => {
  await run('user create --username mira --email mira@example.org --password violet-harbour-lantern-42')
  await run('user create --username nils --email nils@example.org --password violet-harbour-lantern-42')
  const renamed = await run('user rename mira Nora')
  assert.deepEqual([renamed.former, renamed.username], ['mira', 'Nora'])
  for (const [line, sentence] of [
    ['user rename nora Nora', /is already the name of this account/],
    ['user rename nora nils', /This username is taken/],
    ['user rename nils mira', /This username is taken/],
    ['user rename nils no/slash', /must be 1 to 39 letters/],
    ['user rename nobody nina', /does not exist/],
  ] as const)
    await assert.rejects(run(line), sentence)
  assert.equal((await run('user rename nora mira')).former, 'Nora')
  const { entries } = await run('audit list --find Account.Changed')
  assert.deepEqual(
    entries.map(({ action, actor, subject }: Record<string, { kind: string; name: string }>) => [
      action,
      actor?.kind,
      subject?.name,
    ]),
    Array(2).fill(['account.changed', 'command', 'mira']),
  )
  assert.deepEqual((await run('audit list --find nothing-like-this')).entries, [])
})

test('wrong usage is rejected before anything is opened', async () => {
  for (const [line, sentence] of [
    ['seed --remove', /add --yes/],
    ['seed --remove --yes --projects 3', /do not combine it with --projects/],
    ['invitation create --uses 0', /--uses must be a whole number from 1/],
    ['invitation create --expires tomorrow', /--expires must be a number followed by d, h or m/],
    ['invitation revoke', /Missing arguments: expected at least 1/],
  ] as const)
    await assert.rejects(run(line, { DATABASE_URL: 'postgres://nowhere.invalid/x', DATA_DIR: folder }), sentence)
})

test('the limits of an account are shown and set, and its sessions listed and ended', async () => {
  await run('user create --username orla --email orla@example.org --password violet-harbour-lantern-42')
  const shown = await run('user limits orla')
  assert.deepEqual([shown.projects.current, shown.projects.override, shown.bytes], [0, null, 0])
  const set = await run('user limits orla --projects 3 --collections 0')
  assert.deepEqual([set.projects.max, set.collections.max, set.organizations.override], [3, 0, null])
  assert.deepEqual((await run('user limits orla --projects default')).projects, shown.projects)
  assert.equal((await run('user limits orla')).collections.override, 0)
  await assert.rejects(run('user limits orla --projects many'), /projects must be a whole number/)
  await assert.rejects(run('user limits nobody'), /does not exist/)
  assert.deepEqual((await run('user sessions orla')).sessions, [])
  await assert.rejects(run('user sessions orla --end aaaaaaaa'), /session does not exist/)
  const { entries } = await run('audit list --action account.limits_changed')
  assert.equal(entries.length, 2)
})
