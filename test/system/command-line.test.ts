// The command line, with and without a running server; its output suits users and programs.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'
import { findCommand } from '#cli/usage.ts'
import { commandHere } from '#test/support/processes/command-here.ts'
import { depot, ENTRY, makeDataDir, type RunningDepot, startDepot } from '#test/support/processes/running-depot.ts'

const { dataDir, remove } = makeDataDir()
after(remove)
const PASSWORD = 'violet-harbour-lantern-42'

/** Runs a command by a shell, whose `$0 "$1"` starts Depot. */
async function inShell(script: string, more: Record<string, string> = {}): Promise<{ code: number; stderr: string }> {
  const env = { PATH: process.env['PATH'], DATA_DIR: dataDir, ...more }
  const child = spawn('bash', ['-o', 'pipefail', '-c', script, process.execPath, ENTRY], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')])
  return { code, stderr }
}

describe('output that cannot be written', () => {
  const full =
    'Cannot write to standard output: ENOSPC: no space left on device, write. Free space on that disk, or use a larger one, and run the command again.\n'

  test('a full one ends the command with a sentence', async () => {
    for (const command of ['help', 'settings list', 'manual'])
      assert.deepEqual(await inShell(`"$0" "$1" ${command} > /dev/full`), { code: 1, stderr: full }, command)
  })

  test('a command whose reader has exited ends silently', async () => {
    for (const command of ['help', 'settings list', 'manual']) {
      const { code, stderr } = await inShell(`"$0" "$1" ${command} | true`)
      assert.deepEqual([code, stderr], [0, ''], command)
    }
  })
})

for (const beside of ['without a server', 'while a server runs'] as const) {
  describe(beside, () => {
    const suffix = beside === 'without a server' ? 'alone' : 'beside'
    let server: RunningDepot | undefined
    before(async () => {
      if (beside !== 'without a server') server = await startDepot(dataDir)
    })
    after(async () => {
      await server?.stop()
    })

    test('migrate, user create, user role and token create do what they say and print it as JSON', async () => {
      const migrated = await depot(dataDir, ['migrate', '--json'])
      assert.equal(migrated.code, 0, migrated.stderr)
      assert.ok(Array.isArray(JSON.parse(migrated.stdout).applied))
      const made = await depot(dataDir, [
        'user',
        'create',
        '--username',
        `mira-${suffix}`,
        '--email',
        `mira-${suffix}@example.org`,
        '--password',
        PASSWORD,
        '--json',
      ])
      assert.equal(made.code, 0, made.stderr)
      const account = JSON.parse(made.stdout)
      assert.equal(account.role, 'developer')
      assert.match(account.id, /^[0-9A-Za-z]{8}$/)
      const role = await depot(dataDir, ['user', 'role', `mira-${suffix}`, 'moderator', '--json'])
      assert.equal(JSON.parse(role.stdout).role, 'moderator')
      const made2 = await depot(dataDir, [
        'token',
        'create',
        '--user',
        `MIRA-${suffix}`,
        '--scopes',
        'PROJECT_READ,USER_READ',
        '--expires',
        '90d',
        '--json',
      ])
      assert.equal(made2.code, 0, made2.stderr)
      const { token, scopes } = JSON.parse(made2.stdout)
      assert.match(token, /^dpp_[0-9A-Za-z]{60}$/)
      assert.deepEqual(scopes, ['USER_READ', 'PROJECT_READ'])
      if (server !== undefined) {
        const user = await fetch(`${server.url}/v3/user`, { headers: { 'user-agent': 'x', authorization: token } })
        assert.equal(user.status, 200)
        assert.equal(((await user.json()) as { role: string }).role, 'moderator')
      }
      const text = await depot(dataDir, ['token', 'create', '--user', `mira-${suffix}`, '--scopes', 'all'])
      assert.match(text.stdout, /^dpp_[0-9A-Za-z]{60}\n$/)
    })

    test('seed fills a demo catalogue, and adds to it what is missing', async () => {
      const [count, present] = server === undefined ? [6, 0] : [9, 6]
      const seeded = await depot(dataDir, ['seed', '--projects', String(count), '--json'])
      assert.equal(seeded.code, 0, seeded.stderr)
      assert.deepEqual(JSON.parse(seeded.stdout).projects, { added: count - present, present })
      const again = await depot(dataDir, ['seed', '--projects', String(count)])
      assert.match(again.stdout, new RegExp(`^Added 0 projects, .*; ${count} demo projects already existed\n$`))
      if (server !== undefined) {
        const statistics = await fetch(`${server.url}/v3/statistics`, { headers: { 'user-agent': 'x' } })
        assert.ok(((await statistics.json()) as { projects: number }).projects >= 6)
      }
    })

    test('check shows each dependency with its state', async () => {
      const { code, stdout, stderr } = await depot(dataDir, ['check', '--json'])
      assert.equal(code, 0, stderr)
      const { status, dependencies } = JSON.parse(stdout)
      assert.equal(status, 'ok')
      for (const name of ['configuration', 'database', 'files', 'mail'])
        assert.equal(dependencies[name].status, 'ok', name)
    })
  })
}

describe('mistakes', () => {
  const here = (args: string[], more: Record<string, string> = {}) => commandHere(args, { DATA_DIR: dataDir, ...more })

  test('are one sentence and the usage, with exit code 2', async () => {
    for (const args of [
      [],
      ['nonsense'],
      ['user', 'create', '--username', 'x'],
      ['user', 'create', '--username', 'x', '--email', 'x@example.org', '--password', PASSWORD, '--role', 'king'],
      ['user', 'role', 'somebody'],
      ['token', 'create', '--user', 'x', '--scopes', 'NO_SUCH_SCOPE'],
      ['token', 'create', '--user', 'x', '--scopes', ','],
      ['seed', '--projects', '1e3'],
      ['token', 'create', '--user', 'x', '--scopes', 'all', '--expires', 'soon'],
      ['serve', '--port', '1'],
    ]) {
      const { code, stderr } = await here(args)
      assert.equal(code, 2, args.join(' '))
      const command = findCommand(args)?.command.name ?? (args[0] === 'user' ? 'user' : 'COMMAND')
      assert.match(stderr, new RegExp(`^[^\\n]+\\n\\nUsage: depot ${command}[ \\n]`), args.join(' '))
    }
  })

  test('a rejected command prints one sentence and exits with code 1', async () => {
    const weak = await here([
      'user',
      'create',
      '--username',
      'weak',
      '--email',
      'weak@example.org',
      '--password',
      'password1',
    ])
    assert.equal(weak.code, 1)
    assert.match(weak.stderr, /password/)
    const unknown = await here(['token', 'create', '--user', 'nobody-of-this-name', '--scopes', 'all'])
    assert.equal(unknown.code, 1)
    assert.match(unknown.stderr, /does not exist/)
    const taken = await here([
      'user',
      'create',
      '--username',
      'Mira-ALONE',
      '--email',
      'other@example.org',
      '--password',
      PASSWORD,
    ])
    assert.equal(taken.code, 1)
    assert.match(taken.stderr, /taken/)
  })

  test('check exits with 1 and names what is bad', async () => {
    const { code, stdout } = await here(['check', '--json'], { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' })
    assert.equal(code, 1)
    assert.equal(JSON.parse(stdout).dependencies.database.status, 'failing')
    const broken = await here(['check'], { PORT: 'x' })
    assert.equal(broken.code, 1)
    assert.match(broken.stdout, /configuration: failing/)
  })
})
