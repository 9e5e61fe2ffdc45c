// The schema of all environment variables. The validation, `.env.example` and docs/generated/settings.md depend on it.
// `must` completes the error message "NAME must be …"; `example` is a valid value; messages never contain `secret` values.
import Type from 'typebox'
import { ACCOUNT_VARIABLES } from './env-accounts.ts'
import { ENGINE_VARIABLES } from './env-engines.ts'
import { SERVER_VARIABLES } from './env-server.ts'
import { isClickHouseAddress, isDatabaseAddress } from './env-values.ts'
import { type About, address, choice, count, optional } from './variable.ts'

/** All variables. A variable without a default is optional. An empty value counts as unset. */
export const Env = Type.Object({
  ...SERVER_VARIABLES,
  // OpenTelemetry defines these names, and its libraries read other variables themselves.
  OTEL_EXPORTER_OTLP_ENDPOINT: address({
    description:
      'URL of the receiver of traces (OTLP over HTTP, JSON); see docs/operators/monitoring.md. Default: no traces.',
    example: 'http://127.0.0.1:4318',
  }),
  OTEL_SERVICE_NAME: Type.String({
    default: 'depot',
    maxLength: 255,
    description: 'Name of the service in traces.',
    must: 'at most 255 characters',
    example: 'depot-eu',
  }),
  OTEL_PROPAGATORS: optional({
    maxLength: 255,
    description:
      'tracecontext: a request continues the trace of its caller. Set it only if all callers are trusted. none: each request begins a new trace. Default: none.',
    must: 'a list of tracecontext, baggage, or none',
    example: 'tracecontext',
    check: (value) => value.split(',').every((word) => ['tracecontext', 'baggage', 'none'].includes(word.trim())),
  }),
  DATA_DIR: Type.String({
    default: './data',
    maxLength: 4096,
    description: 'Folder for all local data: embedded database, files, analytics and outbox.',
    must: 'a path of at most 4096 characters',
    example: '/var/lib/depot',
  }),
  DATABASE_URL: optional({
    description: 'URL of a PostgreSQL database, version 15 or later. Default: the embedded database.',
    must: 'a postgres:// or postgresql:// URL',
    example: 'postgres://depot:password@db.example.org:5432/depot',
    secret: true,
    check: isDatabaseAddress,
  }),
  DATABASE_DIRECT_URL: optional({
    description:
      'Direct URL of the database, required if DATABASE_URL is a pooler in transaction mode; see docs/operators/capacity.md.',
    must: 'a postgres:// or postgresql:// URL',
    example: 'postgres://depot:password@db.example.org:5432/depot',
    secret: true,
    check: isDatabaseAddress,
  }),
  DATABASE_READ_URL: optional({
    description: 'URL of a read replica, for lists and reads that can be slightly outdated. Default: DATABASE_URL.',
    must: 'a postgres:// or postgresql:// URL',
    example: 'postgres://depot:password@replica.example.org:5432/depot',
    secret: true,
    check: isDatabaseAddress,
  }),
  CLICKHOUSE_URL: optional({
    description:
      'URL of a ClickHouse database for analytics, version 24 or later; see docs/operators/engines/clickhouse.md. Default: the embedded analytics store in DATA_DIR.',
    must: 'an http or https URL whose path is the name of a database',
    example: 'https://depot:password@clickhouse.example.org:8443/depot',
    secret: true,
    check: isClickHouseAddress,
  }),
  ANALYTICS_SPOOL_MB: count({
    description: 'Maximum size of the events that wait in DATA_DIR while ClickHouse is unavailable, in MiB.',
    range: [1, 1_000_000],
    default: 1024,
    example: '4096',
  }),
  FILES_BASE_URL: address({
    description: 'Prefix of the URLs of files, for example of a CDN. Default: BASE_URL.',
    example: 'https://cdn.example.org',
  }),
  EXTERNAL_IMAGES: choice({
    description:
      'How texts of users show images of other hosts. proxy: Depot fetches, checks and caches them and serves them from its ' +
      'own URL. link: as links. OUTGOING=off also shows links.',
    values: ['proxy', 'link'],
    default: 'proxy',
    example: 'link',
  }),
  EXTERNAL_IMAGES_CACHE_MB: count({
    description:
      'Maximum size of the cached images of other hosts, in MiB. A job deletes the least recently used ones.',
    range: [1, 1_000_000],
    default: 2048,
    example: '512',
  }),
  ...ENGINE_VARIABLES,
  ...ACCOUNT_VARIABLES,
  COUNTRY_HEADER: optional({
    pattern: '^[A-Za-z0-9-]{1,64}$',
    description:
      'Header in which the proxy sends the country code of the client (2 letters). Set it only if the proxy always replaces the header.',
    must: 'the name of one header',
    example: 'X-Country',
  }),
  GEOIP_DATABASE: optional({
    maxLength: 4096,
    description:
      'File in MaxMind format that maps IP addresses to countries. Used if COUNTRY_HEADER is unset or the header is missing.',
    must: 'a path of at most 4096 characters',
    example: '/var/lib/geoip/country.mmdb',
  }),
  SCANNER_COMMAND: optional({
    description:
      'Program that scans uploaded files before they are published, with its arguments, separated by spaces; see ' +
      'docs/operators/engines/scanner.md. If SCANNER_URL is unset too, files are not scanned.',
    must: 'a program and its arguments, separated by spaces, at most 1000 characters',
    example: '/opt/depot/scripts/scan-with-clamav.mjs --daemon',
    check: (value) => value.length <= 1000 && !/\p{Cc}/u.test(value),
  }),
  SCANNER_URL: address({
    description: 'URL to which uploaded files are sent to be scanned, instead of SCANNER_COMMAND.',
    example: 'https://scanner.example.org/judge',
  }),
  SCANNER_TOKEN: optional({
    pattern: '^[\\x21-\\x7e]{1,512}$',
    description: 'Bearer token for SCANNER_URL. Default: no token.',
    must: 'visible ASCII characters without spaces, at most 512',
    example: 'token-from-the-scanner',
    secret: true,
  }),
  SCANNER_TIMEOUT_SECONDS: count({
    description: 'Maximum time to scan one file, in seconds.',
    range: [1, 3600],
    default: 120,
    example: '300',
  }),
  SITE: choice({
    description: 'Whether Depot serves the public web site in addition to the API.',
    values: ['on', 'off'],
    default: 'on',
    example: 'off',
  }),
  SITE_NAME: Type.Refine(
    Type.String({
      default: 'Depot',
      maxLength: 64,
      description: 'Name of the instance on pages.',
      must: '1 to 64 characters without control characters',
      example: 'Our Depot',
    }),
    (value) => !/\p{Cc}/u.test(value),
  ),
  DOCS_URL: address({
    description:
      'URL of the documentation, to which each page links; {version} stands for the version of Depot. see docs/operators/documentation.md. Default: no link.',
    example: 'https://docs.example.org/depot/{version}/',
  }),
  QUOTA_PROJECTS: quota('projects', 256),
  QUOTA_ORGANIZATIONS: quota('organizations', 16),
  QUOTA_COLLECTIONS: quota('collections', 32),
  AFFILIATE_SHARE: Type.Number({
    minimum: 0,
    maximum: 1,
    default: 0.1,
    description:
      'Share of the revenue of a conversion for the owner of the affiliate code, unless the code has its own share (0 to 1).',
    must: 'a number from 0 to 1',
    example: '0.1',
  }),
})

export type Env = Type.Static<typeof Env>

type Variable = About & { name: string; type?: string; default?: string | number | boolean }

/** All variables in the order of the schema. */
export const VARIABLES: readonly Variable[] = Object.entries(Env.properties).map(([name, schema]) => ({
  name,
  ...(schema as unknown as Omit<Variable, 'name'>),
}))

function quota(what: string, value: number) {
  return count({
    description: `Maximum number of ${what} per account. Operators can set another limit for an account.`,
    range: [0, 1_000_000],
    default: value,
    example: String(value),
  })
}
