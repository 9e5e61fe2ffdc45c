import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import { isAbsolute, resolve } from 'node:path'
import { test } from 'node:test'
import { inspect, parseEnv } from 'node:util'
import { VARIABLES } from './env.ts'
import { envExample } from './env-example.ts'
import { loadConfig, withPort } from './load-config.ts'
import { VERSION } from './version.ts'

const key = 'k'.repeat(32)

function problemsOf(env: Record<string, string>): string[] {
  try {
    loadConfig(env)
  } catch (error) {
    assert.ok(error instanceof Error)
    return error.message.split('\n').slice(1)
  }
  return []
}

test('an empty environment gives a service for this machine alone that needs nothing else', () => {
  const config = loadConfig({})
  assert.deepEqual(
    { ...config.http, blockedUserAgents: config.http.blockedUserAgents.length },
    {
      host: '127.0.0.1',
      port: 8080,
      baseUrl: 'http://127.0.0.1:8080',
      isBaseUrlGuessed: false,
      clientAddressHeader: undefined,
      blockedUserAgents: 0,
      rateLimitBypassKey: undefined,
      countsUnchanged: true,
      connectionsPerAddress: 512,
      bodies: { ms: 30_000, bytesPerSecond: 500 },
      drainMs: 0,
      adminKey: undefined,
      metricsToken: undefined,
    },
  )
  assert.equal(config.dataDir, resolve('data'))
  assert.deepEqual(config.database, { kind: 'embedded' })
  assert.deepEqual(config.mail, { kind: 'outbox', folder: resolve('data/outbox'), from: 'Depot <noreply@localhost>' })
  assert.deepEqual(config.files, {
    baseUrl: 'http://127.0.0.1:8080',
    store: { kind: 'folder', folder: resolve('data/files') },
  })
  assert.deepEqual(config.counters, { kind: 'memory' })
  assert.deepEqual(config.accounts, {
    registration: 'open',
    deletionDays: 0,
    requireVerifiedEmail: false,
    captcha: undefined,
    codeHostApiUrl: undefined,
    signInProviders: [],
    leakReportKeysUrl: undefined,
    tokenDaysMax: 0,
  })
  assert.equal(config.ci.audience, 'http://127.0.0.1:8080')
  assert.deepEqual(
    config.ci.issuers.map(({ issuer }) => issuer),
    ['https://token.actions.githubusercontent.com', 'https://gitlab.com'],
  )
  assert.deepEqual(config.scanner, { kind: 'none' })
  assert.deepEqual([config.outgoing.isOn, config.outgoing.isTrusted, config.outgoing.proxy], [true, false, undefined])
  assert.deepEqual(config.quotas, { projects: 256, organizations: 16, collections: 32 })
  assert.equal(config.money.affiliateShare, 0.1)
  assert.equal(config.log.level, 'info')
})

test('every variable is read', () => {
  const config = loadConfig({
    HOST: '0.0.0.0',
    PORT: '80',
    BASE_URL: 'https://depot.example.org/',
    DATA_DIR: '/srv/depot',
    DATABASE_URL: 'postgres://u:p@db/depot',
    DATABASE_DIRECT_URL: 'postgresql://u:p@primary/depot',
    DATABASE_READ_URL: 'postgresql://u:p@replica/depot',
    FILES_BASE_URL: 'https://cdn.example.org/files/',
    SMTP_URL: 'smtps://u:p@mail.example.org',
    MAIL_FROM: 'post@example.org',
    ADMIN_KEY: key,
    RATE_LIMIT_BYPASS_KEY: `${key}2`,
    RATE_LIMIT_COUNT_304: 'false',
    CLIENT_ADDRESS_HEADER: 'X-Real-IP',
    BLOCKED_USER_AGENTS: '^bad/,worse',
    REQUIRE_VERIFIED_EMAIL: 'false',
    REGISTRATION: 'closed',
    CAPTCHA_VERIFY_URL: 'https://captcha.example.org/verify',
    CAPTCHA_SECRET: 'c',
    CAPTCHA_SITE_KEY: 'k',
    CAPTCHA_SCRIPT_URL: 'https://Captcha.example.org/api.js?lang=en',
    CAPTCHA_WIDGET_CLASS: 'x-captcha',
    CAPTCHA_ORIGINS: 'https://captcha.example.org  https://*.captcha.example.org',
    CODE_HOST_API_URL: 'https://api.example.org/',
    SCANNER_URL: 'https://scanner.example.org/judge',
    SCANNER_TOKEN: 't',
    SCANNER_TIMEOUT_SECONDS: '7',
    METRICS_TOKEN: 'm',
    OUTGOING: 'off',
    BACKUP_RECIPIENT: `age1${'q'.repeat(58)}, age1${'p'.repeat(58)}`,
    OUTGOING_ALLOW: '10.0.0.0/8,Hooks.internal',
    OUTGOING_DENY: '10.1.0.0/16',
    OUTGOING_PROXY: 'http://u:p@proxy.example.org:3128',
    LOG_LEVEL: 'debug',
    QUOTA_PROJECTS: '1',
    QUOTA_ORGANIZATIONS: '2',
    QUOTA_COLLECTIONS: '0',
    AFFILIATE_SHARE: '0.25',
    DOCS_URL: 'https://docs.example.org/{version}/',
  })
  assert.equal(config.site.docsUrl, `https://docs.example.org/${VERSION}/`)
  assert.equal(config.http.host, '0.0.0.0')
  assert.equal(config.http.port, 80)
  assert.equal(config.http.baseUrl, 'https://depot.example.org')
  assert.equal(config.http.clientAddressHeader, 'x-real-ip')
  assert.equal(config.http.adminKey?.reveal(), key)
  assert.equal(config.http.rateLimitBypassKey?.reveal(), `${key}2`)
  assert.equal(config.http.metricsToken?.reveal(), 'm')
  assert.equal(config.http.countsUnchanged, false)
  const { isOn, isTrusted, allow, deny, proxy } = config.outgoing
  assert.deepEqual([isOn, isTrusted, allow.names, deny.names], [false, false, ['hooks.internal'], []])
  assert.deepEqual([allow.ranges.check('10.1.2.3'), deny.ranges.check('10.1.2.3')], [true, true])
  assert.equal(proxy?.reveal(), 'http://u:p@proxy.example.org:3128')
  assert.deepEqual(config.backup.recipients, [`age1${'q'.repeat(58)}`, `age1${'p'.repeat(58)}`])
  assert.ok(config.scanner.kind === 'url')
  assert.deepEqual([config.scanner.url, config.scanner.timeoutMs], ['https://scanner.example.org/judge', 7000])
  assert.equal(config.scanner.token?.reveal(), 't')
  assert.equal(config.dataDir, '/srv/depot')
  assert.ok(config.database.kind === 'external')
  assert.equal(config.database.url.reveal(), 'postgres://u:p@db/depot')
  assert.equal(config.database.readUrl?.reveal(), 'postgresql://u:p@replica/depot')
  assert.equal(config.database.directUrl?.reveal(), 'postgresql://u:p@primary/depot')
  assert.equal(config.files.baseUrl, 'https://cdn.example.org/files')
  assert.ok(config.mail.kind === 'smtp')
  assert.equal(config.mail.url.reveal(), 'smtps://u:p@mail.example.org')
  assert.equal(config.mail.from, 'post@example.org')
  assert.equal(config.accounts.registration, 'closed')
  assert.equal(config.accounts.requireVerifiedEmail, false)
  assert.equal(config.accounts.captcha?.verifyUrl, 'https://captcha.example.org/verify')
  assert.equal(config.accounts.captcha?.secret.reveal(), 'c')
  assert.deepEqual(config.accounts.captcha?.widget, {
    siteKey: 'k',
    scriptUrl: 'https://captcha.example.org/api.js?lang=en',
    className: 'x-captcha',
    origins: ['https://captcha.example.org', 'https://*.captcha.example.org'],
  })
  assert.equal(config.accounts.codeHostApiUrl, 'https://api.example.org')
  assert.deepEqual(config.quotas, { projects: 1, organizations: 2, collections: 0 })
  assert.equal(config.money.affiliateShare, 0.25)
  assert.equal(config.log.level, 'debug')
})

test('reports all errors together, each with its variable, the correct form and an example', () => {
  const problems = problemsOf({
    PORT: '65536',
    HOST: 'a b',
    LOG_LEVEL: 'loud',
    CAPTCHA_SECRET: 's',
    ADMIN_KEY: 'short',
  })
  assert.deepEqual(problems, [
    '  HOST must be a host name or an IP address, not "a b"; for example HOST=0.0.0.0',
    '  PORT must be a whole number from 0 to 65535, not "65536"; for example PORT=8080',
    '  ADMIN_KEY must be 32 to 512 visible ASCII characters without spaces; for example ADMIN_KEY=put-32-or-more-random-characters-here',
    '  LOG_LEVEL must be one of fatal, error, warn, info, debug, trace, silent, not "loud"; for example LOG_LEVEL=warn',
    '  CAPTCHA_VERIFY_URL must be set when CAPTCHA_SECRET is; for example CAPTCHA_VERIFY_URL=https://captcha.example.org/siteverify',
  ])
})

const refused: Record<string, string[]> = {
  HOST: ['http://x', '-x', 'a/b', '1.2.3.999', 'fe80::1%eth0'],
  PORT: ['-1', '65536', '1.5', 'http', '80 81', 'true'],
  BASE_URL: ['depot.example.org', 'ftp://x', 'https://u:p@x', 'https://x/?a=1', 'https://x/#a', 'https://'],
  DATABASE_URL: ['mysql://x', 'localhost:5432'],
  FILES_BASE_URL: ['//cdn'],
  SMTP_URL: ['http://mail', 'mail.example.org:25', 'smtp://'],
  MAIL_FROM: ['nobody', 'a@b@c', 'Name <a@b', 'a@b>', 'x\r\nBcc: y@z', 'Name\n<a@b>'],
  ADMIN_KEY: ['k'.repeat(31), 'k'.repeat(513), `${key} ${key}`],
  RATE_LIMIT_BYPASS_KEY: ['k'.repeat(31)],
  CLIENT_ADDRESS_HEADER: ['X Real', 'X-A,X-B', 'x'.repeat(65)],
  BLOCKED_USER_AGENTS: ['(', 'fine,(', '.*', 'x|', 'x'.repeat(501), 'x,'.repeat(101)],
  REQUIRE_VERIFIED_EMAIL: ['maybe', '2'],
  REGISTRATION: ['OPEN', 'yes'],
  CODE_HOST_API_URL: ['api'],
  SCANNER_COMMAND: ['x'.repeat(1001), 'a\nb'],
  SCANNER_URL: ['scanner', 'https://u:p@x'],
  SCANNER_TIMEOUT_SECONDS: ['0', '3601', '1.5', 'soon'],
  RATE_LIMIT_COUNT_304: ['maybe'],
  METRICS_TOKEN: ['a b', 'x'.repeat(513)],
  LOG_LEVEL: ['INFO', '30'],
  QUOTA_PROJECTS: ['-1', '0.5', '1000001', 'many'],
  AFFILIATE_SHARE: ['-0.1', '1.1', '10%'],
}
for (const [name, values] of Object.entries(refused)) {
  test(`${name} rejects invalid values`, () => {
    for (const value of values) {
      const problems = problemsOf({ [name]: value })
      assert.equal(problems.length, 1, value)
      assert.match(problems[0] ?? '', new RegExp(`^  ${name} must be `), value)
    }
  })
}

test('accepts the limit values', () => {
  const problems = [
    { PORT: '0' },
    { PORT: '65535' },
    { ADMIN_KEY: key },
    { ADMIN_KEY: 'k'.repeat(512) },
    { AFFILIATE_SHARE: '0' },
    { AFFILIATE_SHARE: '1' },
    { QUOTA_PROJECTS: '1000000' },
    { BLOCKED_USER_AGENTS: 'x,'.repeat(100) },
  ].flatMap((env) => problemsOf(env as Record<string, string>))
  assert.deepEqual(problems, [])
})

test('a variable without the one it belongs to is an error', () => {
  assert.match(
    problemsOf({ DATABASE_READ_URL: 'postgres://x' })[0] ?? '',
    /DATABASE_URL must be set when DATABASE_READ_URL is/,
  )
  assert.match(
    problemsOf({ DATABASE_DIRECT_URL: 'postgres://x' })[0] ?? '',
    /DATABASE_URL must be set when DATABASE_DIRECT_URL is/,
  )
  assert.match(problemsOf({ CAPTCHA_VERIFY_URL: 'https://x' })[0] ?? '', /CAPTCHA_SECRET must be set/)
  const missing = problemsOf({ CAPTCHA_SITE_KEY: 'k', CAPTCHA_ORIGINS: 'https://x' })
  for (const name of ['CAPTCHA_VERIFY_URL', 'CAPTCHA_SCRIPT_URL', 'CAPTCHA_WIDGET_CLASS'])
    assert.ok(missing.some((problem) => problem.startsWith(`  ${name} must be set when CAPTCHA_SITE_KEY is`)))
  for (const name of ['CAPTCHA_SCRIPT_URL', 'CAPTCHA_WIDGET_CLASS', 'CAPTCHA_ORIGINS'])
    assert.match(problemsOf({ [name]: 'https://x' }).join(), /CAPTCHA_SITE_KEY must be set when CAPTCHA_/)
})

test('rejects values that would end a source of Content-Security-Policy', () => {
  const widget = { CAPTCHA_VERIFY_URL: 'https://x', CAPTCHA_SECRET: 's', CAPTCHA_SITE_KEY: 'k' }
  for (const [name, value] of [
    ['CAPTCHA_SCRIPT_URL', 'https://a;script-src/api.js'],
    ['CAPTCHA_SCRIPT_URL', 'https://a,b/api.js'],
    ['CAPTCHA_SCRIPT_URL', 'https://u:p@a/api.js'],
    ['CAPTCHA_SCRIPT_URL', 'javascript:alert(1)'],
    ['CAPTCHA_ORIGINS', "'unsafe-inline'"],
    ['CAPTCHA_ORIGINS', 'https://a; script-src *'],
    ['CAPTCHA_ORIGINS', 'https://a/path'],
    ['CAPTCHA_ORIGINS', '*'],
    ['CAPTCHA_ORIGINS', 'https://*'],
    ['CAPTCHA_ORIGINS', Array.from({ length: 11 }, (_, i) => `https://h${i}`).join(' ')],
    ['CAPTCHA_WIDGET_CLASS', 'a b'],
    ['CAPTCHA_SITE_KEY', 'a b'],
  ] as const) {
    const env = { ...widget, CAPTCHA_SCRIPT_URL: 'https://a/api.js', CAPTCHA_WIDGET_CLASS: 'w', [name]: value }
    assert.match(problemsOf(env)[0] ?? '', new RegExp(`^ {2}${name} must be `), value)
  }
})

test('there is one scanner, and its token belongs to its address', () => {
  for (const SCANNER_TOKEN of ['a b', 'x'.repeat(513)])
    assert.match(problemsOf({ SCANNER_URL: 'https://x', SCANNER_TOKEN })[0] ?? '', /^ {2}SCANNER_TOKEN must be /)
  assert.match(problemsOf({ SCANNER_TOKEN: 't' })[0] ?? '', /SCANNER_URL must be set when SCANNER_TOKEN is/)
  const both = problemsOf({ SCANNER_COMMAND: 'scan', SCANNER_URL: 'https://x' })
  assert.deepEqual(both, ['  SCANNER_URL must be unset when SCANNER_COMMAND is set: there is one scanner'])
})

test('empty and blank values count as unset, and values are trimmed', () => {
  const config = loadConfig({ ADMIN_KEY: '', PORT: ' ', METRICS_TOKEN: '\n', HOST: ' 0.0.0.0\n' })
  assert.equal(config.http.adminKey, undefined)
  assert.equal(config.http.metricsToken, undefined)
  assert.equal(config.http.port, 8080)
  assert.equal(config.http.host, '0.0.0.0')
})

test('the public address follows host and port, and where every address is listened on it is one of this machine', () => {
  const own = Object.values(networkInterfaces()).flatMap((all) => all?.map(({ address }) => address) ?? [])
  for (const HOST of ['0.0.0.0', '::']) {
    const { baseUrl, isBaseUrlGuessed } = loadConfig({ HOST, PORT: '81' }).http
    const { hostname, port } = new URL(baseUrl)
    assert.ok(own.includes(hostname.replace(/[[\]]/g, '')), baseUrl)
    assert.deepEqual([port, isBaseUrlGuessed], ['81', true])
    assert.equal(loadConfig({ HOST, BASE_URL: 'https://depot.test' }).http.isBaseUrlGuessed, false)
  }
  assert.equal(loadConfig({ HOST: 'depot.example.org' }).http.baseUrl, 'http://depot.example.org:8080')
})

test('addresses are brought to one form', () => {
  const { http } = loadConfig({ BASE_URL: 'HTTPS://Dépôt.Example.org:443/sub//' })
  assert.equal(http.baseUrl, `https://${new URL('https://dépôt.example.org').hostname}/sub`)
})

test('only URLs that are derived from the port contain the chosen port', () => {
  const free = withPort(loadConfig({ PORT: '0' }), 40_000)
  assert.equal(free.http.port, 40_000)
  assert.equal(free.http.baseUrl, 'http://127.0.0.1:40000')
  assert.equal(free.files.baseUrl, 'http://127.0.0.1:40000')
  const fixed = withPort(loadConfig({ PORT: '0', BASE_URL: 'https://depot.example.org' }), 40_000)
  assert.equal(fixed.http.baseUrl, 'https://depot.example.org')
})

test('requires verified email addresses by default if SMTP is configured', () => {
  const SMTP_URL = 'smtp://mail.example.org'
  assert.equal(loadConfig({ SMTP_URL }).accounts.requireVerifiedEmail, true)
  assert.equal(loadConfig({ SMTP_URL, REQUIRE_VERIFIED_EMAIL: '0' }).accounts.requireVerifiedEmail, false)
  assert.equal(loadConfig({ REQUIRE_VERIFIED_EMAIL: 'true' }).accounts.requireVerifiedEmail, true)
})

test('blocked user agents are separated by commas and line breaks, but not inside a quantifier', () => {
  const { blockedUserAgents } = loadConfig({ BLOCKED_USER_AGENTS: '^BadBot, scraper [0-9]{1,3}$\n\nother' }).http
  assert.deepEqual(
    blockedUserAgents.map(({ source }) => source),
    ['^BadBot', 'scraper [0-9]{1,3}$', 'other'],
  )
  assert.ok(blockedUserAgents[0]?.test('badbot/1.0'))
})

test('no way of printing the configuration or an error shows a secret', () => {
  const planted = 'planted-secret-0123456789-0123456789'
  const env = {
    DATABASE_URL: `postgres://u:${planted}@db/x`,
    DATABASE_DIRECT_URL: `postgres://u:${planted}@db/x`,
    DATABASE_READ_URL: `postgres://u:${planted}@db/x`,
    SMTP_URL: `smtp://u:${planted}@mail`,
    ADMIN_KEY: planted,
    RATE_LIMIT_BYPASS_KEY: planted,
    CAPTCHA_VERIFY_URL: 'https://x',
    CAPTCHA_SECRET: planted,
    METRICS_TOKEN: planted,
    SCANNER_URL: 'https://x',
    SCANNER_TOKEN: planted,
  }
  const config = loadConfig(env)
  const printed = [
    JSON.stringify(config),
    inspect(config, { depth: 9, showHidden: true }),
    `${config.http.adminKey}`,
    ...problemsOf({
      ...env,
      DATABASE_URL: `mysql://u:${planted}@db`,
      SMTP_URL: `http://${planted}`,
      METRICS_TOKEN: `${planted} x`,
      BASE_URL: `https://u:${planted}@depot.example.org`,
      CODE_HOST_API_URL: `https://x/?key=${planted}`,
      ADMIN_KEY: `${planted} x`,
      CAPTCHA_SECRET: `${planted}${'x'.repeat(9000)}`,
    }),
  ]
  assert.equal(printed.length, 10)
  for (const text of printed) assert.doesNotMatch(text, /planted/)
  assert.match(printed[0] ?? '', /\[secret\]/)
})

test('an empty value switches a part off, with the other settings of the part', () => {
  const s3 = { S3_REGION: 'r', S3_ENDPOINT: 'https://x', S3_PREFIX: 'p', S3_DOWNLOADS: 'redirect', S3_PATH_STYLE: '1' }
  assert.equal(loadConfig({ ...s3, S3_BUCKET: '' }).files.store.kind, 'folder')
  const replicas = { DATABASE_DIRECT_URL: 'postgres://x', DATABASE_READ_URL: 'postgres://x' }
  assert.equal(loadConfig({ ...replicas, DATABASE_URL: '' }).database.kind, 'embedded')
  assert.equal(loadConfig({ OPENSEARCH_INDEX: 'i', OPENSEARCH_URL: '' }).search.kind, 'embedded')
  assert.equal(loadConfig({ REDIS_PREFIX: 'p', REDIS_URL: '' }).counters.kind, 'memory')
})

test('the configuration cannot be changed', () => {
  const config = loadConfig({})
  assert.throws(() => Object.assign(config.http, { port: 1 }), TypeError)
  assert.throws(() => Object.assign(config.quotas, { projects: 1 }), TypeError)
})

test('.env.example is what the table of variables makes', () => {
  assert.equal(readFileSync(new URL('../../../.env.example', import.meta.url), 'utf8'), envExample())
})

test('every example in .env.example is a value that is accepted', () => {
  const uncommented = parseEnv(envExample().replaceAll(/^#([A-Z0-9_]+=)/gm, '$1'))
  const names = VARIABLES.map(({ name }) => name)
  assert.deepEqual(Object.keys(uncommented).sort(), names.sort())
  // Two that exclude each other.
  const { SCANNER_COMMAND, ...others } = uncommented
  assert.ok(isAbsolute(loadConfig(others).dataDir))
  const { scanner } = loadConfig({ SCANNER_COMMAND })
  assert.ok(scanner.kind === 'command')
  assert.deepEqual(scanner.words, ['/opt/depot/scripts/scan-with-clamav.mjs', '--daemon'])
})

test('a bucket and a Redis: what is unset follows from what is set', () => {
  const { files, counters } = loadConfig({
    S3_BUCKET: 'depot-files',
    S3_ENDPOINT: 'https://s3.example.org/',
    S3_PREFIX: 'depot',
    REDIS_URL: 'rediss://depot:hidden@redis.example.org/3',
    DATA_DIR: '/var/lib/depot',
  })
  assert.deepEqual(files.store, {
    kind: 's3',
    bucket: 'depot-files',
    endpoint: 'https://s3.example.org',
    region: 'us-east-1',
    pathStyle: true,
    prefix: 'depot/',
    links: false,
    staging: '/var/lib/depot/files/staging',
  })
  assert.ok(counters.kind === 'redis')
  assert.equal(counters.url.reveal(), 'rediss://depot:hidden@redis.example.org/3')
  const amazon = loadConfig({ S3_BUCKET: 'depot-files', S3_DOWNLOADS: 'redirect' }).files.store
  assert.ok(amazon.kind === 's3')
  assert.deepEqual([amazon.endpoint, amazon.pathStyle, amazon.prefix, amazon.links], [undefined, false, '', true])
})

for (const [name, value, more] of [
  ['REDIS_URL', 'http://redis.example.org', {}],
  ['REDIS_URL', 'redis://redis.example.org/depot', {}],
  ['REDIS_PREFIX', 'two words', { REDIS_URL: 'redis://localhost' }],
  ['S3_BUCKET', 'a/b', {}],
  ['S3_PREFIX', '/depot', { S3_BUCKET: 'depot-files' }],
  ['S3_DOWNLOADS', 'yes', { S3_BUCKET: 'depot-files' }],
] as const) {
  test(`${name}=${value} is rejected by name`, () => {
    assert.throws(() => loadConfig({ ...more, [name]: value }), new RegExp(`${name} must be`))
  })
}

test('rejects settings of a bucket or Redis that is not configured', () => {
  assert.throws(
    () => loadConfig({ S3_ENDPOINT: 'https://s3.example.org' }),
    /S3_BUCKET must be set when S3_ENDPOINT is/,
  )
  assert.throws(() => loadConfig({ REDIS_PREFIX: 'depot:' }), /REDIS_URL must be set when REDIS_PREFIX is/)
})

test('backups are scheduled in a folder or in a bucket of the store for files', () => {
  const target = (env: Record<string, string>) => loadConfig({ DATA_DIR: '/var/lib/depot', ...env }).backup.target
  assert.equal(target({}), undefined)
  assert.deepEqual(target({ BACKUP_TARGET: '/var/backups/depot/' }), {
    address: '/var/backups/depot/',
    store: { kind: 'folder', folder: '/var/backups/depot' },
    everyMinutes: 1440,
    atMinute: 195,
    keep: 14,
  })
  const bucket = { BACKUP_TARGET: 's3://backups/main/', BACKUP_SCHEDULE: 'every 6 hours', BACKUP_KEEP: '3' }
  assert.deepEqual(target({ ...bucket, S3_ENDPOINT: 'https://s3.example.org', S3_REGION: 'eu' }), {
    address: 's3://backups/main/',
    store: {
      kind: 's3',
      bucket: 'backups',
      prefix: 'main/',
      endpoint: 'https://s3.example.org',
      region: 'eu',
      pathStyle: true,
      links: false,
      staging: '/var/lib/depot/backup-staging',
    },
    everyMinutes: 360,
    atMinute: 15,
    keep: 3,
  })
})

test('rejects a target of backups that would mix with the files of the instance, and a schedule without a target', () => {
  const refused = (env: Record<string, string>, reason: RegExp) =>
    assert.throws(() => loadConfig({ DATA_DIR: '/var/lib/depot', ...env }), reason)
  for (const folder of ['/var/lib/depot', '/var/lib/depot/files', '/var/lib/other/../depot/backups/'])
    refused({ BACKUP_TARGET: folder }, /BACKUP_TARGET must be outside DATA_DIR/)
  for (const prefix of ['', '/', '/depot', '/depot/backups']) {
    const env = { S3_BUCKET: 'files', S3_PREFIX: 'depot', BACKUP_TARGET: `s3://files${prefix}` }
    refused(env, /BACKUP_TARGET must name another bucket than S3_BUCKET/)
  }
  loadConfig({ S3_BUCKET: 'files', S3_PREFIX: 'depot', BACKUP_TARGET: 's3://files/backups' })
  loadConfig({ S3_BUCKET: 'files', BACKUP_TARGET: 's3://backups' })
  for (const target of ['backups', 's3:/x', 's3://', 's3://b/a//b', 's3://b/ü'])
    refused({ BACKUP_TARGET: target }, /BACKUP_TARGET must be an absolute path outside DATA_DIR, or s3/)
  for (const schedule of ['24:00', '3:15', 'daily', 'every 25 hours', 'every 0 hours'])
    refused({ BACKUP_TARGET: '/b', BACKUP_SCHEDULE: schedule }, /BACKUP_SCHEDULE must be a time such as 03:15, or an/)
  refused({ BACKUP_SCHEDULE: '03:15' }, /BACKUP_TARGET must be set when BACKUP_SCHEDULE is/)
  refused({ BACKUP_KEEP: '3' }, /BACKUP_TARGET must be set when BACKUP_KEEP is/)
})
