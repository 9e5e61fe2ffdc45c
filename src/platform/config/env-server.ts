// Settings of the HTTP server: its address, limits, operator access and logs.
import Type from 'typebox'
import { parseAddressList } from '#platform/outgoing/rules.ts'
import { isBackupTarget, isEngineAddress, isHost, parseLoaderMetadata, parsePatterns } from './env-values.ts'
import { address, choice, count, flag, optional } from './variable.ts'

const KEY_FORM = '^[\\x21-\\x7e]{32,512}$'
const KEY_RULE = '32 to 512 visible ASCII characters without spaces'

export const SERVER_VARIABLES = {
  HOST: Type.Refine(
    Type.String({
      default: '127.0.0.1',
      maxLength: 253,
      description: 'IP address or host name to listen on. 127.0.0.1: only this machine. 0.0.0.0: all IPv4 addresses.',
      must: 'a host name or an IP address',
      example: '0.0.0.0',
    }),
    isHost,
  ),
  PORT: count({
    description: 'Port to listen on. 0: any free port.',
    range: [0, 65_535],
    default: 8080,
    example: '8080',
  }),
  BASE_URL: address({
    description:
      'Public URL of the service, used in links and responses. Default: HOST and PORT. If HOST is 0.0.0.0 or ::, an ' +
      'IP address of this machine.',
    example: 'https://depot.example.org',
  }),
  ADMIN_KEY: optional({
    pattern: KEY_FORM,
    description:
      'Key for the operator routes (header X-Admin-Key). Default: these routes need the session of an admin.',
    must: KEY_RULE,
    example: 'put-32-or-more-random-characters-here',
    secret: true,
  }),
  RATE_LIMIT_BYPASS_KEY: optional({
    pattern: KEY_FORM,
    description: 'Key that bypasses the rate limit (header X-Ratelimit-Key). Default: no bypass.',
    must: KEY_RULE,
    example: 'put-32-or-more-random-characters-here',
    secret: true,
  }),
  READ_ONLY: flag({
    default: false,
    description:
      'Whether requests that change data are rejected with 503. Operators can also change this while Depot runs.',
    example: 'true',
  }),
  RATE_LIMIT_COUNT_304: flag({
    default: true,
    description: 'Whether responses with 304 (Not modified) count at the rate limit.',
    example: 'false',
  }),
  CLIENT_ADDRESS_HEADER: optional({
    pattern: '^[A-Za-z0-9-]{1,64}$',
    description:
      'Header in which the proxy sends the IP address of the client. Set it only if the proxy always replaces the header.',
    must: 'the name of one header',
    example: 'X-Real-IP',
  }),
  BLOCKED_USER_AGENTS: optional({
    description:
      'Regular expressions, separated by commas or line breaks. Requests with a matching User-Agent are rejected. Letter ' +
      'case is ignored. A comma inside {} does not separate; elsewhere, write \\x2c for a comma. At most 100.',
    must: 'at most 100 regular expressions of at most 500 characters, none of which matches everything',
    example: '^badbot/,scraper [0-9]{1,3}',
    check: (value) => parsePatterns(value) !== undefined,
  }),
  CONNECTIONS_PER_ADDRESS: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 1_000_000,
      description:
        'Maximum number of open connections per IP address (IPv6: per /64). 0: no limit. Default: 512, or no limit if ' +
        'CLIENT_ADDRESS_HEADER is set, because all connections then come from the proxy.',
      must: 'a whole number from 0 to 1000000',
      example: '100',
    }),
  ),
  BODY_SECONDS: count({
    description:
      'Maximum time for a JSON body, in seconds. Other bodies, such as files, can take longer if they reach ' +
      'BODY_BYTES_PER_SECOND in each such period.',
    range: [1, 3600],
    default: 30,
    example: '60',
  }),
  BODY_BYTES_PER_SECOND: count({
    description: 'Minimum speed of a body, in bytes per second over BODY_SECONDS. Slower requests are aborted.',
    range: [0, 1_000_000],
    default: 500,
    example: '100',
  }),
  DRAIN_SECONDS: count({
    description:
      'Seconds for which the server still handles requests after SIGTERM. Meanwhile, /ready returns 503 and each ' +
      'connection closes after its response, so that load balancers stop sending requests.',
    range: [0, 3600],
    default: 0,
    example: '15',
  }),
  METRICS_TOKEN: optional({
    pattern: '^[\\x21-\\x7e]{1,512}$',
    description: 'Bearer token for /metrics. Default: no token is required.',
    must: 'visible ASCII characters without spaces, at most 512',
    example: 'put-a-random-text-here',
    secret: true,
  }),
  OUTGOING: choice({
    description:
      'Whether Depot calls URLs that users supply, such as webhooks. Addresses that the operator sets are always called.',
    values: ['on', 'off'],
    default: 'on',
    example: 'off',
  }),
  OUTGOING_ALLOW: optional({
    description:
      'IP ranges and host names, separated by commas or spaces, that URLs of users can lead to although they are private. ' +
      'These URLs can use http. *.example.org means all names below example.org. Default: only public addresses and https.',
    must: 'at most 200 IP addresses, ranges such as 10.0.0.0/8, and host names',
    example: '10.1.0.0/16,hooks.internal',
    check: (value) => parseAddressList(value) !== undefined,
  }),
  OUTGOING_DENY: optional({
    description:
      'IP ranges and host names, separated by commas or spaces, that URLs of users cannot lead to. It has precedence over ' +
      'OUTGOING_ALLOW.',
    must: 'at most 200 IP addresses, ranges such as 10.0.0.0/8, and host names',
    example: '*.example.org',
    check: (value) => parseAddressList(value) !== undefined,
  }),
  OUTGOING_PROXY: optional({
    description:
      'URL of the HTTP proxy through which Depot calls URLs of users. Depot resolves the names, and requests tunnels ' +
      '(CONNECT) to checked IP addresses. Default: no proxy.',
    must: 'an http or https URL without query and fragment',
    example: 'http://proxy.example.org:3128',
    secret: true,
    check: isEngineAddress,
  }),
  LOADER_METADATA: optional({
    description:
      'JSON object from loader to a URL that lists its versions, from which the page of a pack proposes versions. ' +
      '{game_version} in a URL is the game version of the pack. Default: only versions that published packs use.',
    must: 'a JSON object of at most 20 loaders and http or https URLs',
    example: '{"fabric":"https://meta.example.org/versions/loader"}',
    check: (value) => parseLoaderMetadata(value) !== undefined,
  }),
  GAME_VERSIONS_URL: address({
    description:
      'URL of a manifest of game versions in the format that the launcher of the game reads (versions[] with id, type and ' +
      'releaseTime). Depot reads it every 6 hours and adds versions that are newer than its list. Default: operators add them.',
    example: 'https://meta.example.org/version_manifest.json',
  }),
  RELEASES_URL: address({
    description:
      'URL of the releases of Depot in the format of the API of GitHub, Forgejo and Gitea. Depot reads it every day and ' +
      'tells operators about a new release. Default: it does not ask.',
    example: 'https://code.example.org/api/v1/repos/depot/depot/releases',
  }),
  BACKUP_RECIPIENT: optional({
    pattern: '^age1[a-z0-9]{20,4000}(?:[ ,]+age1[a-z0-9]{20,4000}){0,9}$',
    description:
      'Public keys of age, separated by commas or spaces, for which backups are encrypted. Only encrypted backups contain the ' +
      'secrets of the instance. Default: backups are not encrypted.',
    must: 'at most 10 public keys of age, which start with age1',
    example: 'age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p',
  }),
  BACKUP_TARGET: optional({
    maxLength: 4096,
    description:
      'Where Depot stores scheduled backups: a folder outside DATA_DIR, or a bucket (s3://BUCKET/PREFIX) of the store at ' +
      'S3_ENDPOINT, with the same keys. Each instance needs its own folder or prefix. Default: no scheduled backups.',
    must: 'an absolute path outside DATA_DIR, or s3:// with the name of a bucket and a prefix that no other instance uses',
    example: '/var/backups/depot',
    check: isBackupTarget,
  }),
  BACKUP_SCHEDULE: Type.String({
    pattern: '^([01]\\d|2[0-3]):[0-5]\\d$|^every ([1-9]|1\\d|2[0-4]) hours?$',
    default: '03:15',
    description: 'When Depot makes a backup: each day at this time in UTC, or every 1 to 24 hours.',
    must: 'a time such as 03:15, or an interval such as every 6 hours',
    example: 'every 6 hours',
  }),
  BACKUP_KEEP: count({
    description: 'Number of scheduled backups that Depot keeps. It deletes older ones after each backup.',
    range: [1, 1000],
    default: 14,
    example: '30',
  }),
  LOG_LEVEL: choice({
    description: 'Minimum severity of log messages.',
    values: ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
    default: 'info',
    example: 'warn',
  }),
  LOG_FORMAT: choice({
    description: 'Format of the log. json: for programs. text: for people. auto: text on a terminal, otherwise json.',
    values: ['auto', 'json', 'text'],
    default: 'auto',
    example: 'json',
  }),
}
