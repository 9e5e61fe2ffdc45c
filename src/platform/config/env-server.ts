// Settings of the HTTP server: its address, limits, operator access and logs.
import Type from 'typebox'
import { isHost, isWebAddress, parsePatterns } from './env-values.ts'
import { choice, count, optional, WEB } from './variable.ts'

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
  PORT: count(
    {
      description: 'Port to listen on. 0: any free port.',
      must: 'a whole number from 0 to 65535',
      example: '8080',
    },
    0,
    65_535,
    8080,
  ),
  BASE_URL: optional(
    {
      description:
        'Public URL of the service, used in links and responses. Default: HOST and PORT. If HOST is 0.0.0.0 or ::, an ' +
        'IP address of this machine.',
      must: WEB,
      example: 'https://depot.example.org',
    },
    isWebAddress,
  ),
  HTTP_PROCESSES: Type.Refine(
    Type.String({
      default: '1',
      maxLength: 8,
      description:
        'Number of processes that handle requests on the port. auto: one per processor core, at most 16. With more than ' +
        'one, an additional process owns the database, the search index and the analytics store.',
      must: 'auto, or a whole number from 1 to 64',
      example: 'auto',
    }),
    (value) => value === 'auto' || /^([1-9]|[1-5]\d|6[0-4])$/.test(value),
  ),
  ADMIN_KEY: Type.Optional(
    Type.String({
      pattern: KEY_FORM,
      description:
        'Key for the operator routes (header X-Admin-Key). Default: these routes need the session of an admin.',
      must: KEY_RULE,
      example: 'put-32-or-more-random-characters-here',
      secret: true,
    }),
  ),
  RATE_LIMIT_BYPASS_KEY: Type.Optional(
    Type.String({
      pattern: KEY_FORM,
      description: 'Key that bypasses the rate limit (header X-Ratelimit-Key). Default: no bypass.',
      must: KEY_RULE,
      example: 'put-32-or-more-random-characters-here',
      secret: true,
    }),
  ),
  READ_ONLY: Type.Boolean({
    default: false,
    description:
      'Whether requests that change data are rejected with 503. Operators can also change this while Depot runs.',
    must: 'true or false',
    example: 'true',
  }),
  RATE_LIMIT_COUNT_304: Type.Boolean({
    default: true,
    description: 'Whether responses with 304 (Not modified) count at the rate limit.',
    must: 'true or false',
    example: 'false',
  }),
  CLIENT_ADDRESS_HEADER: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z0-9-]{1,64}$',
      description:
        'Header in which the proxy sends the IP address of the client. Set it only if the proxy always replaces the header.',
      must: 'the name of one header',
      example: 'X-Real-IP',
    }),
  ),
  BLOCKED_USER_AGENTS: optional(
    {
      description:
        'Regular expressions, separated by commas or line breaks. Requests with a matching User-Agent are rejected. Letter ' +
        'case is ignored. A comma inside {} does not separate; elsewhere, write \\x2c for a comma. At most 100.',
      must: 'at most 100 regular expressions of at most 500 characters, none of which matches everything',
      example: '^badbot/,scraper [0-9]{1,3}',
    },
    (value) => parsePatterns(value) !== undefined,
  ),
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
  BODY_SECONDS: count(
    {
      description:
        'Maximum time for a JSON body, in seconds. Other bodies, such as files, can take longer if they reach ' +
        'BODY_BYTES_PER_SECOND in each such period.',
      must: 'a whole number from 1 to 3600',
      example: '60',
    },
    1,
    3600,
    30,
  ),
  BODY_BYTES_PER_SECOND: count(
    {
      description: 'Minimum speed of a body, in bytes per second over BODY_SECONDS. Slower requests are aborted.',
      must: 'a whole number from 0 to 1000000',
      example: '100',
    },
    0,
    1_000_000,
    500,
  ),
  DRAIN_SECONDS: count(
    {
      description:
        'Seconds for which the server still handles requests after SIGTERM. Meanwhile, /ready returns 503 and each ' +
        'connection closes after its response, so that load balancers stop sending requests.',
      must: 'a whole number from 0 to 3600',
      example: '15',
    },
    0,
    3600,
    0,
  ),
  METRICS_TOKEN: Type.Optional(
    Type.String({
      pattern: '^[\\x21-\\x7e]{1,512}$',
      description: 'Bearer token for /metrics. Default: no token is required.',
      must: 'visible ASCII characters without spaces, at most 512',
      example: 'put-a-random-text-here',
      secret: true,
    }),
  ),
  LOG_LEVEL: choice(
    { description: 'Minimum severity of log messages.', example: 'warn' },
    ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
    'info',
  ),
  LOG_FORMAT: choice(
    {
      description: 'Format of the log. json: for programs. text: for people. auto: text on a terminal, otherwise json.',
      example: 'json',
    },
    ['auto', 'json', 'text'],
    'auto',
  ),
}
