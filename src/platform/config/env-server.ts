// Variables of the server itself: where it listens, who is let in and how far, what it tells the operator.
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
      description:
        'Public address of the service, as links and answers give it. Default: made from HOST and PORT; for 0.0.0.0 and ' +
        ':: an address of this machine.',
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
        'Processes that answer requests on the one port. auto is the number of processor cores, 16 at most; with more than ' +
        'one, the database, the search index and the analytics are held by one more process.',
      must: 'auto, or a whole number from 1 to 64',
      example: 'auto',
    }),
    (value) => value === 'auto' || /^([1-9]|[1-5]\d|6[0-4])$/.test(value),
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
  READ_ONLY: Type.Boolean({
    default: false,
    description:
      'Whether everything that changes something is refused (503). Operators can also switch it while Depot runs.',
    must: 'true or false',
    example: 'true',
  }),
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
  CONNECTIONS_PER_ADDRESS: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 1_000_000,
      description:
        'Connections that one address may hold open (IPv6: one /64); 0 is any number. Default: 512, and any number where ' +
        'CLIENT_ADDRESS_HEADER is set, because then all of them are the proxy’s.',
      must: 'a whole number from 0 to 1000000',
      example: '100',
    }),
  ),
  BODY_SECONDS: count(
    {
      description:
        'Time in which a JSON body must have come. Other bodies, such as files, may take longer, as long as they bring ' +
        'BODY_BYTES_PER_SECOND in every such time.',
      must: 'a whole number from 1 to 3600',
      example: '60',
    },
    1,
    3600,
    30,
  ),
  BODY_BYTES_PER_SECOND: count(
    {
      description: 'The slowest pace of a body, over BODY_SECONDS; a slower request is ended.',
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
        'How long the server goes on answering after SIGTERM, while /ready says 503 and connections are closed one by ' +
        'one, so that balancers turn away first.',
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
      description: 'Bearer token that /metrics demands. Unset: it demands none.',
      must: 'visible ASCII characters without spaces, at most 512',
      example: 'put-a-random-text-here',
      secret: true,
    }),
  ),
  LOG_LEVEL: choice(
    { description: 'What is logged: this level and those more severe.', example: 'warn' },
    ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
    'info',
  ),
  LOG_FORMAT: choice(
    {
      description:
        'How the log is written: json for programs, text for people, auto for text on a terminal and json elsewhere.',
      example: 'json',
    },
    ['auto', 'json', 'text'],
    'auto',
  ),
}
