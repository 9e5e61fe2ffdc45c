// Checks the environment variables and groups them by subject. The caller passes the environment.
import { isIPv6 } from 'node:net'
import { networkInterfaces } from 'node:os'
import { join, resolve } from 'node:path'
import { Value } from 'typebox/value'
import { Secret } from '#lib/access/secret.ts'
import { OperatorError } from '#lib/operator-error.ts'
import { withoutEnd } from '#lib/text/linear-text.ts'
import { NO_ADDRESSES, type OutgoingRules, parseAddressList } from '#platform/outgoing/rules.ts'
import { DEFAULT_CI_ISSUERS, parseCiIssuers } from './ci-issuers.ts'
import type { BackupTarget, CaptchaWidget, Config, FilesConfig, MailConfig, ScannerConfig } from './config.ts'
import { Env, VARIABLES } from './env.ts'
import { parseBackupBucket, parseLoaderMetadata, parsePatterns } from './env-values.ts'
import { parseSignInProviders } from './sign-in-providers.ts'
import { VERSION } from './version.ts'

const CONNECTIONS_PER_ADDRESS = 512

/**
 * Reads and checks the environment. Values are trimmed, empty values count as unset, and unknown variables are ignored.
 * @throws OperatorError that lists each invalid variable with the rule and an example, but without secret values.
 */
export function loadConfig(env: Record<string, string | undefined>): Config {
  const texts = Object.fromEntries(
    VARIABLES.map(({ name }) => [name, env[name]?.trim()]).filter(([, value]) => value !== undefined && value !== ''),
  ) as Record<string, string>
  const typed = Object.fromEntries(VARIABLES.map(({ name, type }) => [name, typedValue(texts[name], type)]))
  const value = Value.Default(Env, typed)
  const invalid = new Set(Value.Errors(Env, value).map((problem) => problem.instancePath.split('/')[1]))
  const problems = VARIABLES.filter(({ name }) => invalid.has(name)).map(({ name, must, example, secret }) => {
    // A URL with `@` or `?` might contain a misplaced password.
    const isSecret = secret === true || /[@?]/.test((texts[name] ?? '').split('://').slice(1).join())
    const current = isSecret ? '' : `, not ${JSON.stringify(texts[name]?.slice(0, 100))}`
    return `${name} must be ${must}${current}; for example ${name}=${example}`
  })
  problems.push(...partnerProblems(texts, env))
  throwProblems(problems)
  const config = group(value as Env)
  throwProblems(backupProblems(config))
  return deepFreeze({ ...config, variables: Object.keys(texts) })
}

/** @throws OperatorError that lists the problems, if there are any. */
function throwProblems(problems: readonly string[]): void {
  if (problems.length > 0)
    throw new OperatorError(`Invalid environment:\n${problems.map((problem) => `  ${problem}`).join('\n')}`)
}

/** Returns the configuration for the port on which the server listens, which the default URLs contain. */
export function withPort(config: Config, port: number): Config {
  const { http, files } = config
  const before = defaultBaseUrl(http.host, http.port)
  const after = defaultBaseUrl(http.host, port)
  const moved = (url: string) => (url === before ? after : url)
  return deepFreeze({
    ...config,
    http: { ...http, port, baseUrl: moved(http.baseUrl) },
    files: { ...files, baseUrl: moved(files.baseUrl) },
    ci: { ...config.ci, audience: moved(config.ci.audience) },
  })
}

/** Converts a text to the type of its schema, if it can. `Value.Convert` would read `true` and `1.5` as the integer 1. */
function typedValue(text: string | undefined, type: string | undefined): string | number | boolean | undefined {
  if (text === undefined) return undefined
  if (type === 'integer' || type === 'number') return /^-?\d{1,15}(\.\d{1,15})?$/.test(text) ? Number(text) : text
  if (type === 'boolean') return /^(true|1)$/i.test(text) ? true : /^(false|0)$/i.test(text) ? false : text
  return text
}

/** Whether HOST means all addresses of the machine. */
const isEveryAddress = (host: string): boolean => host === '0.0.0.0' || host === '::'

/** Returns the URL at which others reach a service that listens on `host`. */
function defaultBaseUrl(host: string, port: number): string {
  const reached = isEveryAddress(host) ? ownAddress(host) : host
  return `http://${isIPv6(reached) ? `[${reached}]` : reached}:${port}`
}

/** Returns the first address of this machine that others can reach, or the loopback address. */
function ownAddress(host: string): string {
  const family = host === '::' ? 'IPv6' : 'IPv4'
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])
  // Link-local addresses work only together with the name of an interface.
  const external = all.find(
    ({ address, internal, family: of }) => of === family && !internal && !/^fe80|^169\.254/.test(address),
  )
  return external?.address ?? (family === 'IPv6' ? '::1' : '127.0.0.1')
}

/** Variables that need another variable. */
const NEEDED = [
  ['DATABASE_DIRECT_URL', 'DATABASE_URL'],
  ['DATABASE_READ_URL', 'DATABASE_URL'],
  ['OPENSEARCH_INDEX', 'OPENSEARCH_URL'],
  ['CAPTCHA_VERIFY_URL', 'CAPTCHA_SECRET'],
  ['CAPTCHA_SECRET', 'CAPTCHA_VERIFY_URL'],
  ['CAPTCHA_SITE_KEY', 'CAPTCHA_VERIFY_URL'],
  ['CAPTCHA_SITE_KEY', 'CAPTCHA_SCRIPT_URL'],
  ['CAPTCHA_SITE_KEY', 'CAPTCHA_WIDGET_CLASS'],
  ['CAPTCHA_SCRIPT_URL', 'CAPTCHA_SITE_KEY'],
  ['CAPTCHA_WIDGET_CLASS', 'CAPTCHA_SITE_KEY'],
  ['CAPTCHA_ORIGINS', 'CAPTCHA_SITE_KEY'],
  ['SCANNER_TOKEN', 'SCANNER_URL'],
  ['S3_PREFIX', 'S3_BUCKET'],
  ['S3_DOWNLOADS', 'S3_BUCKET'],
  ['REDIS_PREFIX', 'REDIS_URL'],
  ['BACKUP_SCHEDULE', 'BACKUP_TARGET'],
  ['BACKUP_KEEP', 'BACKUP_TARGET'],
] as const
/** These also need a bucket, unless backups are stored in one. */
const NEEDED_FOR_BUCKETS = [
  ['S3_ENDPOINT', 'S3_BUCKET'],
  ['S3_REGION', 'S3_BUCKET'],
  ['S3_PATH_STYLE', 'S3_BUCKET'],
] as const

/** Reports variables that need another variable, or exclude each other. An empty variable switches off those that need it. */
function partnerProblems(texts: Record<string, string>, env: Record<string, string | undefined>): string[] {
  const hasBoth = texts['SCANNER_COMMAND'] !== undefined && texts['SCANNER_URL'] !== undefined
  const excluded = hasBoth ? ['SCANNER_URL must be unset when SCANNER_COMMAND is set: there is one scanner'] : []
  const hasBackupBucket = texts['BACKUP_TARGET']?.startsWith('s3:') === true
  const needed = hasBackupBucket ? NEEDED : [...NEEDED, ...NEEDED_FOR_BUCKETS]
  const missing = needed
    .filter(([name, partner]) => texts[name] !== undefined && (texts[partner] ?? env[partner]) === undefined)
    .map(([name, partner]) => {
      const example = VARIABLES.find((variable) => variable.name === partner)?.example
      return `${partner} must be set when ${name} is; for example ${partner}=${example}`
    })
  return [...missing, ...excluded]
}

function group(env: Env): Omit<Config, 'variables'> {
  const dataDir = resolve(env.DATA_DIR)
  const baseUrl = env.BASE_URL === undefined ? defaultBaseUrl(env.HOST, env.PORT) : normalAddress(env.BASE_URL)
  return {
    http: httpConfig(env, baseUrl),
    site: { isServed: env.SITE === 'on', name: env.SITE_NAME, docsUrl: env.DOCS_URL?.replaceAll('{version}', VERSION) },
    readOnly: env.READ_ONLY,
    dataDir,
    ...engineConfig(env, dataDir),
    files: {
      baseUrl: env.FILES_BASE_URL === undefined ? baseUrl : normalAddress(env.FILES_BASE_URL),
      store: filesConfig(env, dataDir),
    },
    externalImages: {
      isProxied: env.EXTERNAL_IMAGES === 'proxy' && env.OUTGOING === 'on',
      cacheBytes: env.EXTERNAL_IMAGES_CACHE_MB * 1024 * 1024,
    },
    mail: mailConfig(env, dataDir, baseUrl),
    scanner: scannerConfig(env),
    loaderMetadata: parseLoaderMetadata(env.LOADER_METADATA ?? '{}') ?? {},
    versionManifestUrl: env.GAME_VERSIONS_URL,
    releasesUrl: env.RELEASES_URL,
    audit: { retentionDays: env.AUDIT_RETENTION, addressDays: env.AUDIT_ADDRESS_RETENTION },
    changes: { keptDays: env.CHANGES_KEPT_DAYS },
    outgoing: outgoingRules(env),
    backup: { recipients: env.BACKUP_RECIPIENT?.split(/[ ,]+/) ?? [], target: backupTarget(env, dataDir) },
    accounts: accountsConfig(env),
    ci: {
      issuers: env.CI_ISSUERS === undefined ? DEFAULT_CI_ISSUERS : (parseCiIssuers(env.CI_ISSUERS) ?? []),
      audience: env.CI_AUDIENCE ?? baseUrl,
    },
    quotas: {
      projects: env.QUOTA_PROJECTS,
      organizations: env.QUOTA_ORGANIZATIONS,
      collections: env.QUOTA_COLLECTIONS,
    },
    money: { affiliateShare: env.AFFILIATE_SHARE },
    log: { level: env.LOG_LEVEL, format: env.LOG_FORMAT },
    traces: {
      endpoint: env.OTEL_EXPORTER_OTLP_ENDPOINT,
      serviceName: env.OTEL_SERVICE_NAME,
      followsCallers: env.OTEL_PROPAGATORS?.includes('tracecontext') ?? false,
    },
  }
}

function httpConfig(env: Env, baseUrl: string): Config['http'] {
  const connections =
    env.CONNECTIONS_PER_ADDRESS ?? (env.CLIENT_ADDRESS_HEADER === undefined ? CONNECTIONS_PER_ADDRESS : 0)
  return {
    host: env.HOST,
    port: env.PORT,
    baseUrl,
    isBaseUrlGuessed: env.BASE_URL === undefined && isEveryAddress(env.HOST),
    clientAddressHeader: env.CLIENT_ADDRESS_HEADER?.toLowerCase(),
    blockedUserAgents: parsePatterns(env.BLOCKED_USER_AGENTS ?? '') ?? [],
    rateLimitBypassKey: secret(env.RATE_LIMIT_BYPASS_KEY),
    countsUnchanged: env.RATE_LIMIT_COUNT_304,
    connectionsPerAddress: connections === 0 ? undefined : connections,
    bodies: { ms: env.BODY_SECONDS * 1000, bytesPerSecond: env.BODY_BYTES_PER_SECOND },
    drainMs: env.DRAIN_SECONDS * 1000,
    adminKey: secret(env.ADMIN_KEY),
    metricsToken: secret(env.METRICS_TOKEN),
  }
}

function engineConfig(env: Env, dataDir: string): Pick<Config, 'database' | 'counters' | 'search' | 'analytics'> {
  return {
    database:
      env.DATABASE_URL === undefined
        ? { kind: 'embedded' }
        : {
            kind: 'external',
            url: new Secret(env.DATABASE_URL),
            directUrl: secret(env.DATABASE_DIRECT_URL),
            readUrl: secret(env.DATABASE_READ_URL),
          },
    counters:
      env.REDIS_URL === undefined
        ? { kind: 'memory' }
        : { kind: 'redis', url: new Secret(env.REDIS_URL), prefix: env.REDIS_PREFIX },
    search:
      env.OPENSEARCH_URL === undefined
        ? { kind: 'embedded' }
        : { kind: 'opensearch', url: new Secret(env.OPENSEARCH_URL), prefix: env.OPENSEARCH_INDEX },
    analytics: {
      store:
        env.CLICKHOUSE_URL === undefined
          ? { kind: 'embedded', folder: join(dataDir, 'analytics') }
          : {
              kind: 'clickhouse',
              url: new Secret(env.CLICKHOUSE_URL),
              spoolFolder: join(dataDir, 'analytics', 'spool'),
              spoolBytes: env.ANALYTICS_SPOOL_MB * 1024 * 1024,
            },
      countryHeader: env.COUNTRY_HEADER?.toLowerCase(),
      geoipDatabase: env.GEOIP_DATABASE === undefined ? undefined : resolve(env.GEOIP_DATABASE),
    },
  }
}

function filesConfig(env: Env, dataDir: string): FilesConfig {
  const folder = join(dataDir, 'files')
  if (env.S3_BUCKET === undefined) return { kind: 'folder', folder }
  return {
    kind: 's3',
    bucket: env.S3_BUCKET,
    ...s3Service(env),
    prefix: env.S3_PREFIX === undefined ? '' : `${env.S3_PREFIX.replace(/\/$/, '')}/`,
    links: env.S3_DOWNLOADS === 'redirect',
    staging: join(folder, 'staging'),
  }
}

const s3Service = (env: Env) => ({
  endpoint: env.S3_ENDPOINT === undefined ? undefined : normalAddress(env.S3_ENDPOINT),
  region: env.S3_REGION,
  pathStyle: env.S3_PATH_STYLE ?? env.S3_ENDPOINT !== undefined,
})

function backupTarget(env: Env, dataDir: string): BackupTarget | undefined {
  const { BACKUP_TARGET: address, BACKUP_SCHEDULE: schedule, BACKUP_KEEP: keep } = env
  if (address === undefined) return undefined
  const bucket = parseBackupBucket(address)
  const staging = join(dataDir, 'backup-staging')
  const store: FilesConfig =
    bucket === undefined
      ? { kind: 'folder', folder: resolve(address) }
      : { kind: 's3', ...bucket, ...s3Service(env), links: false, staging }
  const [hours = 0, minutes = 0] = schedule.split(':').map(Number)
  if (schedule.includes(':')) return { address, store, everyMinutes: 24 * 60, atMinute: hours * 60 + minutes, keep }
  return { address, store, everyMinutes: Number.parseInt(schedule.slice('every '.length), 10) * 60, atMinute: 15, keep }
}

/** Reports a target for backups whose files Depot would confuse with those of the instance. */
function backupProblems({
  backup: { target },
  files,
  dataDir,
}: Pick<Config, 'backup' | 'files' | 'dataDir'>): string[] {
  if (target === undefined) return []
  const { store } = target
  if (store.kind === 'folder') {
    const isInside = `${store.folder}/`.startsWith(`${dataDir.replace(/\/$/, '')}/`)
    return isInside ? ['BACKUP_TARGET must be outside DATA_DIR; for example BACKUP_TARGET=/var/backups/depot'] : []
  }
  if (files.store.kind !== 's3' || files.store.bucket !== store.bucket) return []
  const [own, other] = [store.prefix, files.store.prefix]
  if (!own.startsWith(other) && !other.startsWith(own)) return []
  return [
    `BACKUP_TARGET must name another bucket than S3_BUCKET, or a prefix that does not contain S3_PREFIX and is not inside it; for example BACKUP_TARGET=s3://${store.bucket}-backups/depot`,
  ]
}

function outgoingRules(env: Env): OutgoingRules {
  const listOf = (value = '') => parseAddressList(value) ?? NO_ADDRESSES
  const [allow, deny] = [listOf(env.OUTGOING_ALLOW), listOf(env.OUTGOING_DENY)]
  return { isOn: env.OUTGOING === 'on', allow, deny, proxy: secret(env.OUTGOING_PROXY), isTrusted: false }
}

function mailConfig(env: Env, dataDir: string, baseUrl: string): MailConfig {
  const { hostname } = new URL(baseUrl)
  // Almost all mail servers reject senders at an IP address.
  const domain = /^[\d.]+$|^\[/.test(hostname) ? 'localhost' : hostname
  const from = env.MAIL_FROM ?? `Depot <noreply@${domain}>`
  return env.SMTP_URL === undefined
    ? { kind: 'outbox', folder: join(dataDir, 'outbox'), from }
    : { kind: 'smtp', url: new Secret(env.SMTP_URL), from }
}

function scannerConfig(env: Env): ScannerConfig {
  const timeoutMs = env.SCANNER_TIMEOUT_SECONDS * 1000
  if (env.SCANNER_COMMAND !== undefined) return { kind: 'command', words: env.SCANNER_COMMAND.split(/ +/), timeoutMs }
  if (env.SCANNER_URL === undefined) return { kind: 'none' }
  return { kind: 'url', url: new URL(env.SCANNER_URL).href, token: secret(env.SCANNER_TOKEN), timeoutMs }
}

function accountsConfig(env: Env): Config['accounts'] {
  const { CAPTCHA_VERIFY_URL: verifyUrl, CAPTCHA_SECRET: captchaSecret } = env
  const hasCaptcha = verifyUrl !== undefined && captchaSecret !== undefined
  return {
    registration: env.REGISTRATION,
    deletionDays: env.ACCOUNT_DELETION_DAYS,
    leakReportKeysUrl: env.LEAK_REPORT_KEYS_URL === undefined ? undefined : new URL(env.LEAK_REPORT_KEYS_URL).href,
    tokenDaysMax: env.PAT_MAX_DAYS,
    requireVerifiedEmail: env.REQUIRE_VERIFIED_EMAIL ?? env.SMTP_URL !== undefined,
    captcha: hasCaptcha ? { verifyUrl, secret: new Secret(captchaSecret), widget: captchaWidget(env) } : undefined,
    signInProviders: env.SIGN_IN_PROVIDERS === undefined ? [] : (parseSignInProviders(env.SIGN_IN_PROVIDERS) ?? []),
    codeHostApiUrl: env.CODE_HOST_API_URL === undefined ? undefined : normalAddress(env.CODE_HOST_API_URL),
  }
}

function captchaWidget(env: Env): CaptchaWidget | undefined {
  const { CAPTCHA_SITE_KEY: siteKey, CAPTCHA_SCRIPT_URL: script, CAPTCHA_WIDGET_CLASS: className } = env
  if (siteKey === undefined || script === undefined || className === undefined) return undefined
  const { href: scriptUrl, origin } = new URL(script)
  const others = env.CAPTCHA_ORIGINS?.split(/ +/) ?? []
  return { siteKey, scriptUrl, className, origins: [...new Set([origin, ...others])] }
}

/** Returns a URL with its host in ASCII and lower case, without trailing slash. */
function normalAddress(url: string): string {
  return withoutEnd(new URL(url).href, '/')
}

function secret(value: string | undefined): Secret | undefined {
  return value === undefined ? undefined : new Secret(value)
}

function deepFreeze<T>(value: T): T {
  // Regular expressions stay mutable, because `test` writes to `lastIndex`.
  if (typeof value !== 'object' || value === null || value instanceof RegExp) return value
  for (const part of Object.values(value)) deepFreeze(part)
  return Object.freeze(value)
}
