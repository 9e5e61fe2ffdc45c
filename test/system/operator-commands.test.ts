// Commands with which operators manage accounts, tokens, jobs and settings.
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { enqueue } from '#platform/jobs/queue.ts'
import { type TestDatabase, testDatabase } from '#test/support/app/database.ts'
import { commandHere } from '#test/support/processes/command-here.ts'
import { ENTRY, type Finished, makeDataDir } from '#test/support/processes/running-depot.ts'

const { dataDir, remove } = makeDataDir()
after(remove)
let database: TestDatabase
before(async () => {
  database = await testDatabase()
})
after(() => database?.close())

const PASSWORD = 'violet-harbour-lantern-42'

/** Runs a command with a text as its standard input. */
function depot(args: string[], input = '', env: Record<string, string> = {}): Promise<Finished> {
  const all = { ...process.env, DATA_DIR: dataDir, DATABASE_URL: database.connectionString, ...env }
  return commandHere(args, all, input)
}

async function succeed(args: string[], input?: string): Promise<ReturnType<typeof JSON.parse>> {
  const { code, stdout, stderr } = await depot([...args, '--json'], input)
  assert.equal(code, 0, stderr)
  assert.match(stdout, /^\{.*\}\n$/)
  return JSON.parse(stdout)
}

const make = (name: string, input: string, ...more: string[]) =>
  depot(['user', 'create', '--username', name, '--email', `${name}@example.org`, ...more], input)

test('a password is the first line of standard input; an empty one is wrong usage, a weak one is rejected', async () => {
  assert.equal((await make('mira', `${PASSWORD}\r\nnot this\n`)).code, 0)
  const none = await make('nobody', '')
  assert.equal(none.code, 2)
  assert.match(none.stderr, /^No password: type it at a terminal.*\n\nUsage: depot user create /s)
  const weak = await make('nobody', '12345678\n')
  assert.equal(weak.code, 1)
  assert.match(weak.stderr, /password/)
})

/** Runs a command at a terminal and answers each prompt when it appears. */
async function atTerminal(args: string[], answers: readonly [question: string, answer: string][]): Promise<Finished> {
  const env = { ...process.env, DATA_DIR: dataDir, DATABASE_URL: database.connectionString }
  const line = [process.execPath, ENTRY, ...args].map((word) => `'${word}'`).join(' ')
  const child = spawn('script', ['-qec', line, '/dev/null'], { env, stdio: ['pipe', 'pipe', 'inherit'] })
  let stdout = ''
  let next = 0
  child.stdout.on('data', (chunk) => {
    stdout += chunk
    const [question = '', answer = ''] = answers[next] ?? []
    if (next >= answers.length || !stdout.includes(question)) return
    next += 1
    child.stdin.write(`${answer}\r`)
  })
  const [code] = await once(child, 'exit')
  return { code, stdout, stderr: '' }
}
const hasTerminals = spawnSync('script', ['--version']).status === 0

test('at a terminal a password is typed twice and never shown', { skip: !hasTerminals && 'needs script' }, async () => {
  const words = ['user', 'create', '--username', 'typed', '--email', 'typed@example.org']
  const typed = (again: string) =>
    atTerminal(words, [
      ['Password: ', PASSWORD],
      ['Repeat the password: ', again],
    ])
  const differing = await typed('another-harbour-lantern-43')
  assert.deepEqual([differing.code, /The passwords do not match/.test(differing.stdout)], [2, true], differing.stdout)
  const made = await typed(PASSWORD)
  assert.equal(made.code, 0, made.stdout)
  assert.ok(!made.stdout.includes(PASSWORD))
  assert.equal((await succeed(['user', 'show', 'typed'])).has_password, true)
  await succeed(['user', 'delete', 'typed', '--yes'])
})

test('user list and user show: found by a part of the name or address, with a bound, without secrets', async () => {
  await make('otto', `${PASSWORD}\n`, '--role', 'admin')
  await make('100%_sure', `${PASSWORD}\n`)
  const { accounts, total } = await succeed(['user', 'list'])
  assert.deepEqual(
    [accounts.map(({ username }: { username: string }) => username).toSorted(), total],
    [['mira', 'otto'], 2],
  )
  assert.equal((await succeed(['user', 'list', '--role', 'admin'])).accounts[0].username, 'otto')
  assert.equal((await succeed(['user', 'list', '--find', 'MIRA@'])).total, 1)
  assert.equal((await succeed(['user', 'list', '--find', '%'])).total, 0)
  const bounded = await depot(['user', 'list', '--limit', '1'])
  assert.match(bounded.stdout, /^NAME +ID +ROLE +EMAIL +SINCE\notto .*\n1 of 2\n$/)
  const shown = await succeed(['user', 'show', 'mira'])
  assert.deepEqual([shown.role, shown.has_password, shown.has_totp, shown.tokens], ['developer', true, false, 0])
  assert.ok(!JSON.stringify(shown).includes('argon'))
  const nobody = await depot(['user', 'show', 'none'])
  assert.equal(nobody.code, 1)
  assert.equal(nobody.stderr.trim().split('\n').length, 1)
})

test('user password ends the sessions and the tokens', async () => {
  const { id } = await succeed(['user', 'show', 'mira'])
  await sql`insert into session (id, account_id, token_hash, ip, user_agent, expires, refresh_expires)
    values ('AbCdEfGh', ${id}, '\\x01', '127.0.0.1', 'x', now() + '1 day', now() + '1 day')`.execute(database.db)
  await succeed(['token', 'create', '--user', 'mira', '--scopes', 'USER_READ'])
  const before = await database.db.selectFrom('account').select('password_hash').where('id', '=', id).executeTakeFirst()
  await succeed(['user', 'password', 'mira'], 'another-harbour-lantern-43\n')
  const now = await database.db.selectFrom('account').select('password_hash').where('id', '=', id).executeTakeFirst()
  assert.notEqual(now?.password_hash, before?.password_hash)
  assert.equal((await database.db.selectFrom('session').select('id').execute()).length, 0)
  assert.equal((await succeed(['user', 'show', 'mira'])).tokens, 0)
})

test('token list and token revoke: of this account only, and never the token itself', async () => {
  await succeed(['token', 'create', '--user', 'mira', '--scopes', 'USER_READ'])
  const { tokens } = await succeed(['token', 'list', '--user', 'mira'])
  assert.deepEqual(
    tokens.map(({ scopes, expired }: { scopes: string[]; expired: boolean }) => [scopes, expired]),
    [[['USER_READ'], false]],
  )
  assert.ok(!JSON.stringify(tokens).includes('dpp_'))
  assert.equal((await depot(['token', 'revoke', tokens[0].id, '--user', 'otto'])).code, 1)
  await succeed(['token', 'revoke', tokens[0].id, '--user', 'mira'])
  assert.match((await depot(['token', 'list', '--user', 'mira'])).stdout, /^mira has no access tokens\n$/)
})

test('user delete waits for the grace period, and user restore undoes it', async () => {
  const env = { ACCOUNT_DELETION_DAYS: '7' }
  const { code, stdout, stderr } = await depot(['user', 'delete', 'mira', '--yes'], '', env)
  assert.equal(code, 0, stderr)
  assert.match(stdout, /^mira will be deleted on 2.*Z\. To undo this before, run: depot user restore mira\n$/)
  assert.ok(Date.parse((await succeed(['user', 'show', 'mira'])).deletion_due) > Date.now())
  await succeed(['user', 'restore', 'mira'])
  assert.equal((await succeed(['user', 'show', 'mira'])).deletion_due, null)
})

test('user delete wants to be meant, and spares the placeholder', async () => {
  const unsure = await depot(['user', 'delete', 'mira'])
  assert.equal(unsure.code, 2)
  assert.match(unsure.stderr, /^Deleting mira cannot be undone/)
  await succeed(['user', 'delete', 'mira', '--yes'])
  assert.equal((await depot(['user', 'show', 'mira'])).code, 1)
  const placeholder = await depot(['user', 'delete', 'deleted-user', '--yes'])
  assert.equal(placeholder.code, 1)
  assert.doesNotMatch(placeholder.stderr, / at /)
})

test('jobs shows what waits, and what was given up with its error', async () => {
  await database.db
    .transaction()
    .execute((tx) =>
      enqueue(tx, 'versions.release', { version_id: 'AbCdEfGh' }, { runAt: new Date('2099-01-01T00:00:00Z') }),
    )
  const { tasks, failed } = await succeed(['jobs'])
  assert.deepEqual([tasks.find(({ task }: { task: string }) => task === 'versions.release').later, failed], [1, []])
  await sql`update graphile_worker._private_jobs set attempts = max_attempts, last_error = 'It went\nwrong'
    where run_at > '2098-01-01'`.execute(database.db)
  const given = await succeed(['jobs'])
  assert.deepEqual([given.failed[0].task, given.failed[0].error], ['versions.release', 'It went\nwrong'])
  assert.match(
    (await depot(['jobs'])).stdout,
    /\nFailed permanently:\n\d+ +versions\.release +\d+ attempts +It went\n$/,
  )
})

test('settings set takes the mark from a file, rejects other files, and removes it', async () => {
  mkdirSync(dataDir, { recursive: true })
  const file = join(dataDir, 'lantern.svg')
  writeFileSync(file, '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><path d="M0 0h8v8H0z"/></svg>')
  const { mark } = await succeed(['settings', 'set', 'mark', file])
  assert.match(mark.raw_url, /\.svg$/)
  assert.equal((await depot(['settings', 'get', 'mark'])).stdout, `${mark.raw_url}\n`)
  const absent = await depot(['settings', 'set', 'mark', `${file}.png`])
  assert.equal(absent.code, 2)
  assert.match(absent.stderr, /^The file .* does not exist/)
  assert.deepEqual(await succeed(['settings', 'set', 'mark', '--default']), { mark: null })
})

test('an invalid value of a setting is rejected with the valid ones', async () => {
  const set = (name: string, value: string) => depot(['settings', 'set', name, value])
  for (const [value, shown] of [
    ['on', 'on'],
    ['false', 'off'],
    ['true', 'on'],
    ['off', 'off'],
  ] as const) {
    assert.equal((await set('read_only', value)).stdout, `read_only is now ${shown}\n`)
    assert.equal((await depot(['settings', 'get', 'read_only'])).stdout, `${shown}\n`)
  }
  assert.deepEqual(await succeed(['settings', 'get', 'read_only']), { read_only: false })
  assert.match((await set('read_only', 'maybe')).stderr, /^read_only must be on or off\n/)
  assert.match((await set('registration', 'maybe')).stderr, /^registration must be one of open, invitation, closed\n/)
  for (const hue of ['red', '360', '1.5', ''])
    assert.match((await set('accent_hue', hue)).stderr, /^accent_hue must be an integer from 0 to 359\n/)
})

test('a suspension is shown, suspended accounts are listed, and the audit log is read', async () => {
  assert.equal((await make('sunny', PASSWORD)).code, 0)
  assert.equal((await make('shady', PASSWORD)).code, 0)
  const { suspended_at, suspended_until, suspension_reason } = await succeed(['user', 'show', 'shady'])
  assert.deepEqual([suspended_at, suspended_until, suspension_reason], [null, null, null])
  await succeed(['user', 'suspend', 'shady', '--reason', 'Spam in comments', '--for', '7d'])
  assert.match(
    (await depot(['user', 'show', 'shady'])).stdout,
    /suspended_until +20\d\d-.*\nsuspension_reason +Spam in comments\n/,
  )
  const { accounts, total } = await succeed(['user', 'list', '--suspended'])
  assert.deepEqual([accounts.length, total, accounts[0].username], [1, 1, 'shady'])
  assert.equal(accounts[0].suspension_reason, 'Spam in comments')
  const list = (await depot(['user', 'list', '--suspended'])).stdout
  assert.match(list, /^NAME .* SUSPENDED UNTIL\nshady .* 20\d\d-\d\d-\d\d\n$/)

  const { entries } = await succeed(['audit', 'list', '--user', 'shady'])
  assert.deepEqual(
    entries.map((entry: { action: string; actor: { kind: string } }) => [entry.action, entry.actor.kind]),
    [
      ['account.suspended', 'command'],
      ['account.created', 'command'],
    ],
  )
  const filtered = ['--action', 'account.created', '--limit', '1', '--since', '2020-01-01']
  assert.match(
    (await depot(['audit', 'list', ...filtered])).stdout,
    /^TIME .*\n\S+Z +account\.created +command +user shady .*\n$/,
  )
  assert.equal((await depot(['audit', 'list', '--until', '2020-01-01'])).stdout, 'No entries found\n')
  for (const [wrong, sentence] of [
    [['--action', 'spam'], /^--action must be one of account\.created, /],
    [['--since', 'soon'], /^--since must be a date or a time such as /],
  ] as const) {
    const { code, stderr } = await depot(['audit', 'list', ...wrong])
    assert.equal(code, 2)
    assert.match(stderr, sentence)
  }
  await succeed(['user', 'unsuspend', 'shady'])
  assert.equal((await succeed(['user', 'list', '--suspended'])).total, 0)
})

test('a group lists its commands', async () => {
  for (const words of [['user'], ['user', '--help'], ['help', 'user']]) {
    const { code, stdout, stderr } = await depot(words)
    assert.deepEqual([code, stderr], [0, ''], words.join(' '))
    assert.match(stdout, /^Usage: depot user COMMAND\n {2}user create .*\n {6}Create an account\n/)
    assert.doesNotMatch(stdout, /token create/)
  }
  const unknown = await depot(['user', 'fly'])
  assert.equal(unknown.code, 2)
  assert.match(unknown.stderr, /^Unknown command: user fly\n\nUsage: depot user COMMAND\n/)
})

test('settings shows where each value comes from and no secret, without a database; invalid ones are rejected', async () => {
  const env = { DATABASE_URL: 'postgres://depot:hidden@nowhere.invalid/depot', PORT: '81', ADMIN_KEY: 'k'.repeat(40) }
  const { code, stdout } = await depot(['settings', 'list', '--json'], '', env)
  assert.equal(code, 0)
  const { settings, base_url: baseUrl } = JSON.parse(stdout)
  const of = (name: string) => settings.find((setting: { name: string }) => setting.name === name)
  assert.equal(baseUrl, 'http://127.0.0.1:81')
  assert.deepEqual(of('PORT'), { name: 'PORT', value: '81', source: 'environment' })
  assert.deepEqual(of('HOST'), { name: 'HOST', value: '127.0.0.1', source: 'default' })
  assert.deepEqual(of('BASE_URL'), { name: 'BASE_URL', value: null, source: 'unset' })
  assert.deepEqual(of('ADMIN_KEY').value, '(secret)')
  assert.doesNotMatch(stdout, /hidden|kkkk/)
  const invalid = await depot(['settings', 'list'], '', { PORT: 'eighty' })
  assert.equal(invalid.code, 1)
  assert.match(invalid.stderr, /PORT must be/)
})
