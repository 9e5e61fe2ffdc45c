// Faults of the settings and of the data folder, and the command itself. src/features/operation/doctor/ tests the rest.
import assert from 'node:assert/strict'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import type { Finding } from '#features/operation/doctor/finding.ts'
import { testDatabase } from '#test/support/app/database.ts'
import { commandHere } from '#test/support/processes/command-here.ts'
import { checkFolder } from './check-folder.ts'
import { checkProviders } from './check-providers.ts'
import { checkSettings } from './check-settings.ts'

const folder = mkdtempSync(join(tmpdir(), 'depot-doctor-'))
after(() => rmSync(folder, { recursive: true, force: true }))

const DISK = { freeBytes: 500e9, totalBytes: 1000e9 }
const codes = (findings: readonly Finding[]): string[] => findings.map(({ code }) => code)

function settingsFile(name: string, text: string, mode = 0o600) {
  const path = join(folder, name)
  writeFileSync(path, text)
  chmodSync(path, mode)
  return { path, text, names: [...text.matchAll(/^(\w+)=/gm)].map(([, name = '']) => name) }
}

describe('settings', () => {
  const found = (env: Record<string, string>, file?: ReturnType<typeof settingsFile>) =>
    checkSettings({ DATA_DIR: folder, ...env }, file)

  test('correct settings have no findings', () => {
    assert.deepEqual(
      found({ BASE_URL: 'https://depot.example.org' }, settingsFile('good.env', 'PORT=8080\n')).findings,
      [],
    )
    assert.deepEqual(found({}, settingsFile('public.env', 'PORT=8080\n', 0o644)).findings, [])
  })

  for (const [code, env] of [
    ['settings_invalid', { PORT: 'x' }],
    ['base_url_missing', { HOST: '0.0.0.0' }],
    ['base_url_plain', { BASE_URL: 'http://depot.example.org' }],
    ['read_only', { READ_ONLY: 'true' }],
    ['settings_removed', { HTTP_PROCESSES: '2' }],
    ['named_file_missing', { GEOIP_DATABASE: '/nowhere/city.mmdb' }],
  ] as const)
    test(code, () => assert.deepEqual(codes(found(env).findings), [code]))

  test('settings_file_invalid names the line, and settings_file_readable is corrected', async () => {
    const misspelt = settingsFile('misspelt.env', 'BASE_URLL=https://depot.example.org\n')
    const [invalid] = found({}, misspelt).findings
    assert.equal(invalid?.code, 'settings_file_invalid')
    assert.match(invalid.message, /line 1: BASE_URLL is not a setting; the nearest one is BASE_URL/)
    const open = settingsFile('open.env', 'ADMIN_KEY=a-secret-of-at-least-32-characters-long\n', 0o644)
    const [readable] = found({}, open).findings
    assert.equal(readable?.code, 'settings_file_readable')
    await readable.fix?.()
    assert.equal(statSync(open.path).mode & 0o777, 0o640)
    assert.deepEqual(found({}, open).findings, [])
  })
})

describe('sign-in providers', () => {
  const found = async (issuer: string) => {
    const client = { client_id: 'a', client_secret: 'b' }
    const list = [
      { kind: 'oidc', id: 'campus', name: 'Campus', issuer, ...client },
      { kind: 'github', ...client },
    ]
    const { config } = checkSettings({ DATA_DIR: folder, SIGN_IN_PROVIDERS: JSON.stringify(list) }, undefined)
    return checkProviders(config ?? assert.fail('The settings are refused'))
  }

  test('sign_in_provider names the service and its callback URL', async () => {
    const server = createServer((req, res) => {
      const issuer = `http://${req.headers.host}`
      const document = { issuer, authorization_endpoint: `${issuer}/in`, token_endpoint: `${issuer}/token` }
      res.setHeader('content-type', 'application/json').end(JSON.stringify(document))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    assert.deepEqual(await found(issuer), [])
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
    const findings = await found(issuer)
    assert.deepEqual(codes(findings), ['sign_in_provider'])
    assert.match(findings[0]?.message ?? '', /Campus .*\/account\/sign-in\/callback\/campus/)
  })
})

describe('the data folder', () => {
  function dataFolder(name: string): string {
    const path = join(folder, name)
    mkdirSync(join(path, 'files/objects'), { recursive: true, mode: 0o700 })
    writeFileSync(join(path, 'files/objects/one'), 'x', { mode: 0o600 })
    mkdirSync(join(path, 'postgres'), { mode: 0o755 })
    return path
  }

  test('a private folder on a large disk has no findings', () => {
    assert.deepEqual(checkFolder({ dataDir: dataFolder('good') }, DISK), [])
  })

  test('folder_readable is corrected', async () => {
    const dataDir = dataFolder('open')
    chmodSync(join(dataDir, 'files/objects/one'), 0o644)
    const [finding] = checkFolder({ dataDir }, DISK)
    assert.equal(finding?.code, 'folder_readable')
    assert.match(finding.message, /can read 1 files or folders/)
    await finding.fix?.()
    assert.deepEqual(checkFolder({ dataDir }, DISK), [])
  })

  test('folder_owner', { skip: process.getuid?.() !== 0 && 'only root can give files to another user' }, () => {
    const dataDir = dataFolder('foreign')
    chownSync(join(dataDir, 'files/objects/one'), 65_534, 65_534)
    assert.deepEqual(codes(checkFolder({ dataDir }, DISK)), ['folder_owner'])
  })

  test('files_set_aside, disk_filling and disk_full', () => {
    const dataDir = dataFolder('rest')
    writeFileSync(join(dataDir, 'events.duckdb.set-aside-2026'), '', { mode: 0o600 })
    assert.deepEqual(codes(checkFolder({ dataDir }, DISK)), ['files_set_aside'])
    const few = checkFolder({ dataDir: dataFolder('few') }, { freeBytes: 50e9, totalBytes: 1000e9 })
    assert.deepEqual(codes(few), ['disk_filling'])
    assert.match(
      few[0]?.message ?? '',
      /^Only 50000 MB are free on the disk of .*; free space, or use a larger disk\.$/,
    )
    assert.deepEqual(codes(checkFolder({ dataDir: dataFolder('none') }, { freeBytes: 9e9, totalBytes: 1000e9 })), [
      'disk_full',
    ])
  })
})

describe('the command', () => {
  test('reports an instance that does not exist, and invalid settings, with exit code 1', async () => {
    const none = await commandHere(['doctor', '--json'], { DATA_DIR: join(folder, 'none-yet') })
    assert.equal(none.code, 1)
    const { status, findings } = JSON.parse(none.stdout)
    assert.deepEqual([status, findings.at(-1).code], ['failing', 'instance_unusable'])
    const invalid = await commandHere(['doctor'], { DATA_DIR: folder, PORT: 'x' })
    assert.deepEqual([invalid.code, /^error: .*PORT must be/.test(invalid.stdout)], [1, true])
    assert.equal((await commandHere(['doctor', '--nonsense'], {})).code, 2)
  })

  test('finds an older and an unknown schema; --fix migrates, and lists what it has corrected', async () => {
    const database = await testDatabase()
    const env = { DATABASE_URL: database.connectionString, DATA_DIR: join(folder, 'instance') }
    mkdirSync(env.DATA_DIR, { mode: 0o700 })
    const run = async (...options: string[]) => {
      const { stdout, code } = await commandHere(['doctor', '--json', ...options], env)
      return { code, ...JSON.parse(stdout) }
    }
    const find = (report: { findings: { code: string; fixed: boolean }[] }, code: string) =>
      report.findings.find((one) => one.code === code)
    try {
      await database.pool.query("insert into schema_migration (name, checksum) values ('9999_add_future.sql', 'x')")
      const unknown = await run()
      assert.ok(find(unknown, 'schema_unknown'))
      assert.deepEqual([unknown.code, unknown.skipped.length], [1, 1])
      await database.pool.query("delete from schema_migration where name like '9999%'")
      await database.pool.query("delete from schema_migration where name = '0019_time_announcements.sql'")
      await database.pool.query(
        `alter table instance_settings drop column announcement_start, drop column announcement_end, drop column currency,
          drop column home_heading, drop column home_text, drop column home_sections`,
      )
      assert.equal(find(await run(), 'migrations_pending')?.fixed, false)
      const fixed = await run('--fix')
      assert.equal(find(fixed, 'migrations_pending')?.fixed, true, JSON.stringify(fixed.findings))
      assert.deepEqual(fixed.skipped, [])
      assert.equal(find(await run(), 'migrations_pending'), undefined)
    } finally {
      await database.close()
    }
  })
})
