// The settings of an instance, grouped by subject. load-config.ts reads them from the environment.
import type { Secret } from '#lib/access/secret.ts'
import type { OutgoingRules } from '#platform/outgoing/rules.ts'
import type { CiIssuer } from './ci-issuers.ts'
import type { Env } from './env.ts'
import type { SignInProvider } from './sign-in-providers.ts'

/** `directUrl`: the database itself, if `url` is a pooler in transaction mode. */
export type DatabaseConfig =
  | { kind: 'embedded' }
  | { kind: 'external'; url: Secret; directUrl: Secret | undefined; readUrl: Secret | undefined }

/** `spoolFolder`: events that wait for ClickHouse. `spoolBytes`: its maximum size. */
export type AnalyticsStoreConfig =
  | { kind: 'embedded'; folder: string }
  | { kind: 'clickhouse'; url: Secret; spoolFolder: string; spoolBytes: number }

/** `links`: whether downloads are redirected to the store. `prefix` is empty or ends with `/`. */
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
      /** Folder of uploads in progress. */
      staging: string
    }

/** `address`: as the operator has written it. Backups are made every `everyMinutes`, `atMinute` minutes after midnight (UTC). */
export type BackupTarget = {
  address: string
  store: FilesConfig
  everyMinutes: number
  atMinute: number
  /** Number of backups to keep. */
  keep: number
}

export type MailConfig = { from: string } & ({ kind: 'outbox'; folder: string } | { kind: 'smtp'; url: Secret })

export type SearchConfig = { kind: 'embedded' } | { kind: 'opensearch'; url: Secret; prefix: string }

/** The scanner of uploaded files. `timeoutMs` is for one file. */
export type ScannerConfig =
  | { kind: 'none' }
  | { kind: 'command'; words: readonly string[]; timeoutMs: number }
  | { kind: 'url'; url: string; token: Secret | undefined; timeoutMs: number }

/** The captcha on account pages. */
export type CaptchaWidget = {
  siteKey: string
  scriptUrl: string
  /** Class of the element that the script fills. */
  className: string
  /** Origins that it loads from, for Content-Security-Policy. */
  origins: readonly string[]
}

/** All settings of the operator. Frozen; secrets are wrapped. */
export type Config = {
  /** Names of the variables that are set. The others have their defaults. */
  variables: readonly string[]
  http: {
    host: string
    /** 0: any free port; see `withPort`. */
    port: number
    /** Public URL in ASCII, without trailing slash. */
    baseUrl: string
    /** Whether `baseUrl` is a guess, because HOST means all addresses and BASE_URL is unset. */
    isBaseUrlGuessed: boolean
    /** Header in lower case; undefined: the peer of the socket. */
    clientAddressHeader: string | undefined
    /** Patterns of rejected User-Agents. */
    blockedUserAgents: readonly RegExp[]
    rateLimitBypassKey: Secret | undefined
    /** Whether responses with 304 count at the rate limit. */
    countsUnchanged: boolean
    /** Maximum number of open connections per address; undefined: no limit. */
    connectionsPerAddress: number | undefined
    /** Maximum time for a JSON body. Other bodies must send `bytesPerSecond` in each such period. */
    bodies: { ms: number; bytesPerSecond: number }
    /** Time in which a stopping server still handles requests. */
    drainMs: number
    adminKey: Secret | undefined
    metricsToken: Secret | undefined
  }
  site: {
    /** Whether the public site is served. Account pages are always served. */
    isServed: boolean
    name: string
    /** URL of the documentation of this version. */
    docsUrl: string | undefined
  }
  /** Whether changes are rejected. */
  readOnly: boolean
  /** Absolute path of the folder with all local data. */
  dataDir: string
  database: DatabaseConfig
  files: {
    /** Prefix of `files[].url`, without trailing slash. */
    baseUrl: string
    store: FilesConfig
  }
  externalImages: {
    /** Whether texts show images of other hosts through Depot. False: as links. */
    isProxied: boolean
    /** Maximum size of the cached copies. */
    cacheBytes: number
  }
  search: SearchConfig
  counters: { kind: 'memory' } | { kind: 'redis'; url: Secret; prefix: string }
  mail: MailConfig
  scanner: ScannerConfig
  /** URL of the list of versions by loader. */
  loaderMetadata: Readonly<Record<string, string>>
  /** URL of a manifest with new versions for the tags. */
  versionManifestUrl: string | undefined
  /** The feed of releases of Depot. */
  releasesUrl: string | undefined
  accounts: {
    /** Days in which a deletion can be undone; 0: not at all. */
    deletionDays: number
    registration: 'open' | 'invitation' | 'closed'
    requireVerifiedEmail: boolean
    captcha: { verifyUrl: string; secret: Secret; widget: CaptchaWidget | undefined } | undefined
    /** Address of the keys of a code host that reports leaked tokens. */
    leakReportKeysUrl: string | undefined
    /** Maximum lifetime of new access tokens; 0: no limit of the operator. */
    tokenDaysMax: number
    signInProviders: readonly SignInProvider[]
    /** Without trailing slash. */
    codeHostApiUrl: string | undefined
  }
  audit: {
    /** Retention of entries; 0: unlimited. */
    retentionDays: number
    /** Retention of the IP address in entries. */
    addressDays: number
  }
  /** Publishing from builds without a stored secret. */
  ci: { issuers: readonly CiIssuer[]; audience: string }
  backup: {
    /** Public keys of age; empty: backups are not encrypted. */
    recipients: readonly string[]
    /** Place and times of scheduled backups; undefined: none are scheduled. */
    target: BackupTarget | undefined
  }
  /** Rules for calls to URLs of users. */
  outgoing: OutgoingRules
  changes: {
    /** Retention of removed objects in the change feed. */
    keptDays: number
  }
  analytics: {
    store: AnalyticsStoreConfig
    /** Lower-case header name. */
    countryHeader: string | undefined
    /** Absolute path of a file in MaxMind format. */
    geoipDatabase: string | undefined
  }
  /** Maximum number per account. */
  quotas: { projects: number; organizations: number; collections: number }
  money: {
    /** 0 to 1. */
    affiliateShare: number
  }
  /** `auto`: text if standard output is a terminal, otherwise JSON. */
  log: { level: Env['LOG_LEVEL']; format: Env['LOG_FORMAT'] }
  /** No endpoint: no traces. */
  traces: { endpoint: string | undefined; serviceName: string; followsCallers: boolean }
}
