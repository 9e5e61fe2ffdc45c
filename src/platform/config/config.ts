// The environment, read once, checked whole and grouped by subject. Nothing else in Depot looks at the environment.
import { join, resolve } from 'node:path'
import { Value } from 'typebox/value'
import { Secret } from '#lib/access/secret.ts'
import { OperatorError } from '#lib/operator-error.ts'
import { defaultBaseUrl, isEveryAddress, mailDomain } from './default-address.ts'
import { Env, VARIABLES } from './env.ts'
import { parsePatterns } from './env-values.ts'
import { captchaWidget, filesConfig, normalAddress, scannerConfig, secret } from './parts.ts'
import { processCount } from './process-count.ts'

/** `directUrl`: the database itself, where `url` is a pooler in transaction mode. */
export type DatabaseConfig =
  | { kind: 'embedded' }
  | { kind: 'external'; url: Secret; directUrl: Secret | undefined; readUrl: Secret | undefined }

/** `spoolFolder` and `spoolBytes`: where events wait for ClickHouse, and what they may take there. */
export type AnalyticsStoreConfig =
  | { kind: 'embedded'; folder: string }
  | { kind: 'clickhouse'; url: Secret; spoolFolder: string; spoolBytes: number }

/** `links`: whether downloads are sent to the store. `prefix` is empty or ends with `/`. */
export type FilesConfig =
  | { kind: 'folder'; folder: string }
  | {
      kind: 's3'
      bucket: string
      endpoint: string | undefined
      region: string
      pathStyle: boolean
      prefix: string
      links: boolean
      /** Of uploads under way. */
      staging: string
    }

export type MailConfig = { from: string } & ({ kind: 'outbox'; folder: string } | { kind: 'smtp'; url: Secret })

export type SearchConfig = { kind: 'embedded' } | { kind: 'opensearch'; url: Secret; prefix: string }

/** Who judges uploaded files before they are shown; `timeoutMs` is for one file. */
export type ScannerConfig =
  | { kind: 'none' }
  | { kind: 'command'; words: readonly string[]; timeoutMs: number }
  | { kind: 'url'; url: string; token: Secret | undefined; timeoutMs: number }

/** What the account pages show of a captcha. */
export type CaptchaWidget = {
  siteKey: string
  scriptUrl: string
  /** Of the element that the script fills. */
  className: string
  /** Where it loads things from, as sources of Content-Security-Policy. */
  origins: readonly string[]
}

const CONNECTIONS_PER_ADDRESS = 512

/** Everything an operator decides. Frozen, without environment names, secrets wrapped. */
export type Config = {
  http: {
    host: string
    /** 0 takes a free port; see `withPort`. */
    port: number
    /** How many processes answer requests. */
    processes: number
    /** Public address, ASCII, without trailing slash. */
    baseUrl: string
    /** Whether `baseUrl` is a guess: HOST is every address of the machine, and BASE_URL is unset. */
    isBaseUrlGuessed: boolean
    /** Lower-case header name, or `undefined` for the socket's peer. */
    clientAddressHeader: string | undefined
    /** A User-Agent that one of them matches is refused. */
    blockedUserAgents: readonly RegExp[]
    rateLimitBypassKey: Secret | undefined
    /** Whether 304 answers count against the request rate. */
    countsUnchanged: boolean
    /** How many connections one address may hold; undefined for any number. */
    connectionsPerAddress: number | undefined
    /** What a request body may take: JSON this time in all, others so many bytes in every such time. */
    bodies: { ms: number; bytesPerSecond: number }
    /** How long the server goes on answering once it is asked to stop. */
    drainMs: number
    adminKey: Secret | undefined
    metricsToken: Secret | undefined
  }
  site: {
    /** Whether the public web site is served; the account pages always are. */
    isServed: boolean
    name: string
  }
  /** Whether everything that changes something is refused. */
  readOnly: boolean
  /** Absolute path of the folder that holds everything Depot keeps. */
  dataDir: string
  database: DatabaseConfig
  files: {
    /** Where `files[].url` points, without trailing slash. */
    baseUrl: string
    store: FilesConfig
  }
  search: SearchConfig
  counters: { kind: 'memory' } | { kind: 'redis'; url: Secret; prefix: string }
  mail: MailConfig
  scanner: ScannerConfig
  accounts: {
    /** Days in which a deletion can be undone; 0: it cannot. */
    deletionDays: number
    registration: 'open' | 'invitation' | 'closed'
    requireVerifiedEmail: boolean
    captcha: { verifyUrl: string; secret: Secret; widget: CaptchaWidget | undefined } | undefined
    /** Without trailing slash. */
    codeHostApiUrl: string | undefined
  }
  audit: {
    /** How long entries are kept; 0 for ever. */
    retentionDays: number
    /** How long they have the address that they came from. */
    addressDays: number
  }
  analytics: {
    store: AnalyticsStoreConfig
    /** Lower-case header name. */
    countryHeader: string | undefined
    /** Absolute path of a file in MaxMind format. */
    geoipDatabase: string | undefined
  }
  /** How many of each an account may own. */
  quotas: { projects: number; organizations: number; collections: number }
  money: {
    /** 0 to 1. */
    affiliateShare: number
  }
  /** `auto`: text where standard output is a terminal, JSON elsewhere. */
  log: { level: Env['LOG_LEVEL']; format: Env['LOG_FORMAT'] }
  /** No endpoint: no traces. */
  traces: { endpoint: string | undefined; serviceName: string; followsCallers: boolean }
}

/**
 * Reads the whole environment once, and reports every error at once. Values are trimmed; an empty one counts as unset;
 * variables Depot does not know are ignored.
 * @throws OperatorError whose message lists each invalid variable, what is wrong and an example of what is right.
 * Secret values are not in it.
 */
export function loadConfig(env: Record<string, string | undefined>): Config {
  const given = Object.fromEntries(
    VARIABLES.map(({ name }) => [name, env[name]?.trim()]).filter(([, value]) => value !== undefined && value !== ''),
  ) as Record<string, string>
  const typed = Object.fromEntries(VARIABLES.map(({ name, type }) => [name, typedValue(given[name], type)]))
  const value = Value.Default(Env, typed)
  const invalid = new Set(Value.Errors(Env, value).map((problem) => problem.instancePath.split('/')[1]))
  const problems = VARIABLES.filter(({ name }) => invalid.has(name)).map(({ name, must, example, secret }) => {
    // An address with `@` or `?` may hold a password that does not belong there.
    const isSecret = secret === true || /:\/\/.*[@?]/s.test(given[name] ?? '')
    const found = isSecret ? '' : `, not ${JSON.stringify(given[name]?.slice(0, 100))}`
    return `${name} must be ${must}${found}; for example ${name}=${example}`
  })
  problems.push(...partnerProblems(given))
  if (problems.length > 0)
    throw new OperatorError(`Invalid environment:\n${problems.map((problem) => `  ${problem}`).join('\n')}`)
  return deepFreeze(group(value as Env))
}

/**
 * The same configuration for the port that was really taken: when `PORT` is 0 and `BASE_URL` is unset, the public
 * address is known only once the server listens.
 */
export function withPort(config: Config, port: number): Config {
  const { http, files } = config
  const before = defaultBaseUrl(http.host, http.port)
  const after = defaultBaseUrl(http.host, port)
  const moved = (url: string) => (url === before ? after : url)
  return deepFreeze({
    ...config,
    http: { ...http, port, baseUrl: moved(http.baseUrl) },
    files: { ...files, baseUrl: moved(files.baseUrl) },
  })
}

/**
 * The text of a variable as the type its schema asks for, or the text itself where it has another form, so that the
 * check refuses it. `Value.Convert` is more lenient than that: it reads `true` and `1.5` as the integer 1.
 */
function typedValue(text: string | undefined, type: string | undefined): string | number | boolean | undefined {
  if (text === undefined) return undefined
  if (type === 'integer' || type === 'number') return /^-?\d{1,15}(\.\d{1,15})?$/.test(text) ? Number(text) : text
  if (type === 'boolean') return /^(true|1)$/i.test(text) ? true : /^(false|0)$/i.test(text) ? false : text
  return text
}

/** Variables that mean nothing without another one, or beside it. */
function partnerProblems(given: Record<string, string>): string[] {
  const pairs = [
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
    ['S3_ENDPOINT', 'S3_BUCKET'],
    ['S3_REGION', 'S3_BUCKET'],
    ['S3_PATH_STYLE', 'S3_BUCKET'],
    ['S3_PREFIX', 'S3_BUCKET'],
    ['S3_DOWNLOADS', 'S3_BUCKET'],
    ['REDIS_PREFIX', 'REDIS_URL'],
  ] as const
  const both = given['SCANNER_COMMAND'] !== undefined && given['SCANNER_URL'] !== undefined
  const doubles = both ? ['SCANNER_URL must be unset when SCANNER_COMMAND is set: there is one scanner'] : []
  const missing = pairs
    .filter(([name, partner]) => given[name] !== undefined && given[partner] === undefined)
    .map(([name, partner]) => {
      const example = VARIABLES.find((variable) => variable.name === partner)?.example
      return `${partner} must be set when ${name} is; for example ${partner}=${example}`
    })
  return [...missing, ...doubles]
}

function group(env: Env): Config {
  const dataDir = resolve(env.DATA_DIR)
  const baseUrl = env.BASE_URL === undefined ? defaultBaseUrl(env.HOST, env.PORT) : normalAddress(env.BASE_URL)
  const from = env.MAIL_FROM ?? `Depot <noreply@${mailDomain(baseUrl)}>`
  return {
    http: {
      host: env.HOST,
      port: env.PORT,
      processes: processCount(env.HTTP_PROCESSES),
      baseUrl,
      isBaseUrlGuessed: env.BASE_URL === undefined && isEveryAddress(env.HOST),
      clientAddressHeader: env.CLIENT_ADDRESS_HEADER?.toLowerCase(),
      blockedUserAgents: parsePatterns(env.BLOCKED_USER_AGENTS ?? '') ?? [],
      rateLimitBypassKey: secret(env.RATE_LIMIT_BYPASS_KEY),
      countsUnchanged: env.RATE_LIMIT_COUNT_304,
      connectionsPerAddress: connectionsPerAddress(env),
      bodies: { ms: env.BODY_SECONDS * 1000, bytesPerSecond: env.BODY_BYTES_PER_SECOND },
      drainMs: env.DRAIN_SECONDS * 1000,
      adminKey: secret(env.ADMIN_KEY),
      metricsToken: secret(env.METRICS_TOKEN),
    },
    site: { isServed: env.SITE === 'on', name: env.SITE_NAME },
    readOnly: env.READ_ONLY,
    dataDir,
    database:
      env.DATABASE_URL === undefined
        ? { kind: 'embedded' }
        : {
            kind: 'external',
            url: new Secret(env.DATABASE_URL),
            directUrl: secret(env.DATABASE_DIRECT_URL),
            readUrl: secret(env.DATABASE_READ_URL),
          },
    files: {
      baseUrl: env.FILES_BASE_URL === undefined ? baseUrl : normalAddress(env.FILES_BASE_URL),
      store: filesConfig(env, dataDir),
    },
    counters:
      env.REDIS_URL === undefined
        ? { kind: 'memory' }
        : { kind: 'redis', url: new Secret(env.REDIS_URL), prefix: env.REDIS_PREFIX },
    search:
      env.OPENSEARCH_URL === undefined
        ? { kind: 'embedded' }
        : { kind: 'opensearch', url: new Secret(env.OPENSEARCH_URL), prefix: env.OPENSEARCH_INDEX },
    mail:
      env.SMTP_URL === undefined
        ? { kind: 'outbox', folder: join(dataDir, 'outbox'), from }
        : { kind: 'smtp', url: new Secret(env.SMTP_URL), from },
    scanner: scannerConfig(env),
    audit: { retentionDays: env.AUDIT_RETENTION, addressDays: env.AUDIT_ADDRESS_RETENTION },
    accounts: {
      registration: env.REGISTRATION,
      deletionDays: env.ACCOUNT_DELETION_DAYS,
      requireVerifiedEmail: env.REQUIRE_VERIFIED_EMAIL ?? env.SMTP_URL !== undefined,
      captcha:
        env.CAPTCHA_VERIFY_URL === undefined || env.CAPTCHA_SECRET === undefined
          ? undefined
          : {
              verifyUrl: env.CAPTCHA_VERIFY_URL,
              secret: new Secret(env.CAPTCHA_SECRET),
              widget: captchaWidget(env),
            },
      codeHostApiUrl: env.CODE_HOST_API_URL === undefined ? undefined : normalAddress(env.CODE_HOST_API_URL),
    },
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

function connectionsPerAddress(env: Env): number | undefined {
  const number = env.CONNECTIONS_PER_ADDRESS ?? (env.CLIENT_ADDRESS_HEADER === undefined ? CONNECTIONS_PER_ADDRESS : 0)
  return number === 0 ? undefined : number
}

function deepFreeze<T>(value: T): T {
  // Regular expressions are left alone: `test` writes to `lastIndex`.
  if (typeof value !== 'object' || value === null || value instanceof RegExp) return value
  for (const part of Object.values(value)) deepFreeze(part)
  return Object.freeze(value)
}
