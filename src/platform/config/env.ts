// The environment variables an operator may set: one schema, from which validation and `.env.example` are drawn.
// `must` completes the sentence "NAME must be …" of an error; `example` is a right value; `secret` values are never
// shown back.
import Type from 'typebox'
import { ACCOUNT_VARIABLES } from './env-accounts.ts'
import { ENGINE_VARIABLES } from './env-engines.ts'
import { SERVER_VARIABLES } from './env-server.ts'
import { TRACE_VARIABLES } from './env-traces.ts'
import { isClickHouseAddress, isDatabaseAddress, isWebAddress } from './env-values.ts'
import { SITE_VARIABLES } from './site-env.ts'
import { type About, count, optional, WEB } from './variable.ts'

/** Every variable Depot reads. Those without a default are optional; an empty value counts as unset. */
export const Env = Type.Object({
  ...SERVER_VARIABLES,
  ...TRACE_VARIABLES,
  DATA_DIR: Type.String({
    default: './data',
    maxLength: 4096,
    description: 'Folder for everything Depot keeps: embedded database, files, indexes, outbox.',
    must: 'a path of at most 4096 characters',
    example: '/var/lib/depot',
  }),
  DATABASE_URL: optional(
    {
      description: 'PostgreSQL 15 or later to use instead of the embedded database.',
      must: 'a postgres:// or postgresql:// address',
      example: 'postgres://depot:password@db.example.org:5432/depot',
      secret: true,
    },
    isDatabaseAddress,
  ),
  DATABASE_DIRECT_URL: optional(
    {
      description:
        'The database itself, where DATABASE_URL leads through a pooler in transaction mode; see docs/capacity.md.',
      must: 'a postgres:// or postgresql:// address',
      example: 'postgres://depot:password@db.example.org:5432/depot',
      secret: true,
    },
    isDatabaseAddress,
  ),
  DATABASE_READ_URL: optional(
    {
      description: 'Read replica of DATABASE_URL for lists and reads that may lag.',
      must: 'a postgres:// or postgresql:// address',
      example: 'postgres://depot:password@replica.example.org:5432/depot',
      secret: true,
    },
    isDatabaseAddress,
  ),
  CLICKHOUSE_URL: optional(
    {
      description:
        'ClickHouse 24 or later, with its database, to keep analytics in instead of DATA_DIR; see docs/engines/clickhouse.md.',
      must: 'an http or https address whose path is the name of a database',
      example: 'https://depot:password@clickhouse.example.org:8443/depot',
      secret: true,
    },
    isClickHouseAddress,
  ),
  ANALYTICS_SPOOL_MB: count(
    {
      description: 'Megabytes of events that wait in DATA_DIR while ClickHouse does not take them.',
      must: 'a whole number from 1 to 1000000',
      example: '4096',
    },
    1,
    1_000_000,
    1024,
  ),
  FILES_BASE_URL: optional(
    {
      description: 'Address under which the files are reached, when a CDN stands in front. Default: BASE_URL.',
      must: WEB,
      example: 'https://cdn.example.org',
    },
    isWebAddress,
  ),
  ...ENGINE_VARIABLES,
  ...ACCOUNT_VARIABLES,
  COUNTRY_HEADER: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z0-9-]{1,64}$',
      description:
        'Header in which the proxy gives the two letters of the country. Set it only if the proxy always replaces it.',
      must: 'the name of one header',
      example: 'X-Country',
    }),
  ),
  GEOIP_DATABASE: Type.Optional(
    Type.String({
      maxLength: 4096,
      description: 'File in MaxMind format that tells countries by address, asked where COUNTRY_HEADER says nothing.',
      must: 'a path of at most 4096 characters',
      example: '/var/lib/geoip/country.mmdb',
    }),
  ),
  SCANNER_COMMAND: optional(
    {
      description:
        'Program that judges uploaded files before they are shown, with its arguments, separated by spaces; see ' +
        'docs/engines/scanner.md. Unset, and SCANNER_URL too: files are not judged.',
      must: 'a program and its arguments, separated by spaces, at most 1000 characters',
      example: '/opt/depot/scripts/scan-with-clamav.mjs --daemon',
    },
    (value) => value.length <= 1000 && !/\p{Cc}/u.test(value),
  ),
  SCANNER_URL: optional(
    {
      description: 'Address to which uploaded files are sent to be judged, in place of SCANNER_COMMAND.',
      must: WEB,
      example: 'https://scanner.example.org/judge',
    },
    isWebAddress,
  ),
  SCANNER_TOKEN: Type.Optional(
    Type.String({
      pattern: '^[\\x21-\\x7e]{1,512}$',
      description: 'Bearer token that SCANNER_URL wants.',
      must: 'visible ASCII characters without spaces, at most 512',
      example: 'token-from-the-scanner',
      secret: true,
    }),
  ),
  SCANNER_TIMEOUT_SECONDS: count(
    {
      description: 'How long the scanner may take for one file.',
      must: 'a whole number from 1 to 3600',
      example: '300',
    },
    1,
    3600,
    120,
  ),
  ...SITE_VARIABLES,
  QUOTA_PROJECTS: count(quota('Projects', 256), 0, 1_000_000, 256),
  QUOTA_ORGANIZATIONS: count(quota('Organizations', 16), 0, 1_000_000, 16),
  QUOTA_COLLECTIONS: count(quota('Collections', 32), 0, 1_000_000, 32),
  AFFILIATE_SHARE: Type.Number({
    minimum: 0,
    maximum: 1,
    default: 0.1,
    description:
      "Share of a conversion's amount that goes to the owner of the affiliate code, unless the code has its own.",
    must: 'a number from 0 to 1',
    example: '0.1',
  }),
})

export type Env = Type.Static<typeof Env>

type Variable = About & { name: string; type?: string; default?: string | number | boolean }

/** What the table says about each variable, in its order. */
export const VARIABLES: readonly Variable[] = Object.entries(Env.properties).map(([name, schema]) => ({
  name,
  ...(schema as unknown as Omit<Variable, 'name'>),
}))

function quota(what: string, value: number): About {
  return {
    description: `${what} an account may own; an administrator may set another number for one account.`,
    must: 'a whole number from 0 to 1000000',
    example: String(value),
  }
}
