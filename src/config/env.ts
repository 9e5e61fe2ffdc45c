// The environment variables an operator may set: one schema, from which validation and `.env.example` are drawn.
// `must` completes the sentence "NAME must be …" of a fault; `example` is a right value; `secret` values are never
// shown back.
import Type from 'typebox'
import {
  isClickHouseAddress,
  isDatabaseAddress,
  isEngineAddress,
  isHost,
  isMailbox,
  isMailServerAddress,
  isOriginList,
  isScriptAddress,
  isWebAddress,
  parsePatterns,
} from './env-values.ts'
import { SITE_VARIABLES } from './site-env.ts'

type About = { description: string; must: string; example: string; secret?: boolean }

/** The longest value of any variable, in characters. */
const VALUE_MAX = 8192

const optional = (about: About, check: (value: string) => boolean = () => true) =>
  Type.Optional(Type.Refine(Type.String({ maxLength: VALUE_MAX, ...about }), check))

const count = (about: About, minimum: number, maximum: number, value: number) =>
  Type.Integer({ minimum, maximum, default: value, ...about })

const choice = <const Word extends string[]>(about: Omit<About, 'must'>, words: [...Word], value: Word[number]) =>
  Type.Enum(words, { default: value, must: `one of ${words.join(', ')}`, ...about })

const WEB = 'an http or https address without user, query and fragment'
const KEY_FORM = '^[\\x21-\\x7e]{32,512}$'
const KEY_RULE = '32 to 512 visible ASCII characters without spaces'

/** Every variable Depot reads. Those without a default are optional; an empty value counts as unset. */
export const Env = Type.Object({
  HOST: Type.Refine(
    Type.String({
      default: '127.0.0.1',
      maxLength: 253,
      description: 'Address to listen on. 127.0.0.1 is this machine only, 0.0.0.0 every IPv4 address.',
      must: 'a host name or an IP address',
      example: '0.0.0.0',
    }),
    isHost,
  ),
  PORT: count(
    {
      description: 'Port to listen on; 0 takes a free one.',
      must: 'a whole number from 0 to 65535',
      example: '8080',
    },
    0,
    65_535,
    8080,
  ),
  BASE_URL: optional(
    {
      description: 'Public address of the service, as links and answers give it. Default: made from HOST and PORT.',
      must: WEB,
      example: 'https://depot.example.org',
    },
    isWebAddress,
  ),
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
        'ClickHouse 24 or later, with its database, to keep analytics in instead of DATA_DIR; see docs/clickhouse.md.',
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
  OPENSEARCH_URL: optional(
    {
      description:
        'OpenSearch 2.19 or later that holds the search index for all processes; see docs/opensearch.md. Unset: each ' +
        'process has an index of its own in memory.',
      must: 'an http or https address without query and fragment',
      example: 'https://depot:password@search.example.org:9200',
      secret: true,
    },
    isEngineAddress,
  ),
  OPENSEARCH_INDEX: Type.String({
    pattern: '^[a-z0-9][a-z0-9_-]{0,99}$',
    default: 'depot',
    description: 'Name of the alias in OpenSearch, and beginning of the names of its indexes. One for each Depot.',
    must: 'lower-case letters, digits, hyphens and underscores, at most 100, the first a letter or digit',
    example: 'depot-test',
  }),
  SMTP_URL: optional(
    {
      description: 'Mail server. Unset: messages are written to DATA_DIR/outbox and addresses need no verifying.',
      must: 'an smtp:// or smtps:// address',
      example: 'smtp://user:password@mail.example.org:587',
      secret: true,
    },
    isMailServerAddress,
  ),
  MAIL_FROM: optional(
    {
      description: 'Sender of every message. Default: noreply at the host of BASE_URL.',
      must: 'an e-mail address, alone or as Name <address>',
      example: 'Depot <noreply@depot.example.org>',
    },
    isMailbox,
  ),
  ADMIN_KEY: Type.Optional(
    Type.String({
      pattern: KEY_FORM,
      description: 'Key of the operator routes (header X-Admin-Key). Unset: those routes need an admin session.',
      must: KEY_RULE,
      example: 'put-32-or-more-random-characters-here',
      secret: true,
    }),
  ),
  RATE_LIMIT_BYPASS_KEY: Type.Optional(
    Type.String({
      pattern: KEY_FORM,
      description: 'Requests with this key (header X-Ratelimit-Key) are not limited. Unset: no bypass.',
      must: KEY_RULE,
      example: 'put-32-or-more-random-characters-here',
      secret: true,
    }),
  ),
  RATE_LIMIT_COUNT_304: Type.Boolean({
    default: true,
    description: 'Whether answers that say "not modified" (304) count against the request rate.',
    must: 'true or false',
    example: 'false',
  }),
  CLIENT_ADDRESS_HEADER: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z0-9-]{1,64}$',
      description: 'Header in which the proxy gives the client address. Set it only if the proxy always replaces it.',
      must: 'the name of one header',
      example: 'X-Real-IP',
    }),
  ),
  BLOCKED_USER_AGENTS: optional(
    {
      description:
        'Regular expressions, separated by commas or line breaks; a matching User-Agent is refused. Case does not ' +
        'count. A comma inside {} does not separate; elsewhere write it \\x2c. At most 100.',
      must: 'at most 100 regular expressions of at most 500 characters, none of which matches everything',
      example: '^badbot/,scraper [0-9]{1,3}',
    },
    (value) => parsePatterns(value) !== undefined,
  ),
  REQUIRE_VERIFIED_EMAIL: Type.Optional(
    Type.Boolean({
      description: 'Whether creating things needs a verified address. Default: true when SMTP_URL is set.',
      must: 'true or false',
      example: 'true',
    }),
  ),
  REGISTRATION: choice(
    { description: 'Whether people may make accounts themselves.', example: 'closed' },
    ['open', 'closed'],
    'open',
  ),
  CAPTCHA_VERIFY_URL: optional(
    {
      description: 'Endpoint of the siteverify kind that checks captchas at sign-up and sign-in; needs CAPTCHA_SECRET.',
      must: WEB,
      example: 'https://captcha.example.org/siteverify',
    },
    isWebAddress,
  ),
  CAPTCHA_SECRET: optional({
    description: 'Secret for CAPTCHA_VERIFY_URL.',
    must: 'the secret that belongs to CAPTCHA_VERIFY_URL',
    example: 'secret-from-the-captcha-service',
    secret: true,
  }),
  CAPTCHA_SITE_KEY: Type.Optional(
    Type.String({
      pattern: '^[\\x21-\\x7e]{1,512}$',
      description:
        'Public key of the captcha, for the account pages; needs CAPTCHA_SCRIPT_URL and CAPTCHA_WIDGET_CLASS. Unset: ' +
        'where a captcha is asked for, nobody can sign up or in on these pages.',
      must: 'visible ASCII characters without spaces, at most 512',
      example: 'site-key-from-the-captcha-service',
    }),
  ),
  CAPTCHA_SCRIPT_URL: optional(
    {
      description: 'Script that draws the captcha on the account pages, as its service gives it.',
      must: 'an https address (http for tests) without user and fragment',
      example: 'https://captcha.example.org/api.js',
    },
    isScriptAddress,
  ),
  CAPTCHA_WIDGET_CLASS: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z][A-Za-z0-9_-]{0,63}$',
      description:
        'Class of the element that the script fills, as its service says. The answer comes in the field of that name ' +
        'with "-response" behind it.',
      must: 'one name of letters, digits, hyphens and underscores',
      example: 'x-captcha',
    }),
  ),
  CAPTCHA_ORIGINS: optional(
    {
      description:
        'Further origins that the captcha loads scripts, styles, frames and data from, separated by spaces, for ' +
        'services that use more than the one of CAPTCHA_SCRIPT_URL.',
      must: 'at most 10 origins such as https://host or https://*.host, separated by spaces',
      example: 'https://assets.captcha.example.org https://*.captcha.example.org',
    },
    isOriginList,
  ),
  CODE_HOST_API_URL: optional(
    {
      description: 'API of a code host whose tokens are accepted for linked accounts. Unset: none are.',
      must: WEB,
      example: 'https://api.codehost.example.org',
    },
    isWebAddress,
  ),
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
        'docs/scanner.md. Unset, and SCANNER_URL too: files are not judged.',
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
  METRICS_TOKEN: Type.Optional(
    Type.String({
      pattern: '^[\\x21-\\x7e]{1,512}$',
      description: 'Bearer token that /metrics demands. Unset: it demands none.',
      must: 'visible ASCII characters without spaces, at most 512',
      example: 'put-a-random-text-here',
      secret: true,
    }),
  ),
  ...SITE_VARIABLES,
  LOG_LEVEL: choice(
    { description: 'What is logged: this level and those more severe.', example: 'warn' },
    ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
    'info',
  ),
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
