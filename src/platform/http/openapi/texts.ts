// Texts of the API description that do not belong to one route: introduction, tags, access rules and statuses.
import type { FastifyContextConfig } from 'fastify'
import { SCOPES, type ScopeName } from '#lib/access/scopes.ts'
import type { LimitedTokens } from '../route-config.ts'
import { permissionTables, scopeTable } from './bit-tables.ts'

export const INTRODUCTION = `A content hosting service: projects, versions and files, with search, teams and analytics.

- **User-Agent**: every request must identify its program, preferably with a contact. Otherwise, the response is 400.
- **Tokens** are sent in \`Authorization\`, raw or as \`Bearer\`. Each operation lists the scopes that it requires. A
  resource that the caller cannot see returns 404.
- **IDs** are 8 characters of \`0-9A-Za-z\` and never change. If a parameter also accepts a slug or a username, an ID
  takes precedence.
- **Lists of IDs** in a query are one JSON array, percent-encoded: \`ids=["AABBCCDD"]\`, with at most 1,000 IDs.
- **Bodies** are JSON in UTF-8, at most 2 MiB. Types are not converted: \`"5"\` is not a number. In a PATCH request, a
  missing field keeps its value, and \`null\` clears the field if it can be empty.
- **Times** are RFC 3339 in UTC with milliseconds.
- **Errors** are \`{"error", "description", "details"}\`. Programs must use \`error\` and the status; \`details.field\` is
  the path of an invalid value. Retry 5xx, 424 and 429 after a pause.
- **Rate limit**: 300 requests per minute and client address. The description of an expensive operation states how many
  requests it counts as. \`X-Ratelimit-Limit\`, \`-Remaining\` and \`-Reset\` show the current state; a 429 has \`Retry-After\`.
- **Caching**: cacheable responses have an \`ETag\`; \`If-None-Match\` returns 304. Every GET also supports HEAD.

## Scopes

A set of scopes is the sum of their numbers. Requests can also contain a list of their names.

${scopeTable()}

## Permissions

A set of permissions is the sum of their numbers.

${permissionTables()}`

export const INTRODUCTION_V2 = `Version 2 of the API, for existing clients: the same catalogue and rules with other names. New features are available
only in version 3 of the API, described at \`/docs/openapi.json\`, for example collections, organizations, analytics and
payouts. Tokens, IDs, the rate limit and caching are the same in both versions.

- A resource that is missing, or hidden from the caller, returns 404 with an empty body. Other errors are \`{"error", "description",
  "details"}\`.
- Unknown keys of queries and bodies are ignored. An empty query value counts as missing. A number above a limit counts as
  the limit.
- Operations that create a resource return it with status 200.`

/** The groups of operations in reading order. Contains every tag of a route. */
export const TAGS = [
  { name: 'projects', description: 'Published content: mods, modpacks, resource packs and the like' },
  { name: 'versions', description: 'Releases of a project, with their files' },
  { name: 'version files', description: 'Versions, projects and updates by the hash of a file' },
  { name: 'packs', description: 'Choosing versions that fit together, and packs that launchers install' },
  { name: 'files', description: 'Content of files and images' },
  { name: 'search', description: 'Full-text search for projects, with filters' },
  { name: 'tags', description: 'Categories, loaders, game versions, licences and other fixed lists' },
  { name: 'users', description: 'Profiles, and the projects, collections and follows of a user' },
  { name: 'follows', description: 'Projects that a user follows' },
  { name: 'collections', description: 'Lists of projects, curated by users' },
  { name: 'notifications', description: 'Notifications of a user' },
  { name: 'teams', description: 'Members of projects and organizations, and their permissions' },
  { name: 'organizations', description: 'Groups that own projects' },
  { name: 'limits', description: 'Number of projects, organizations and collections that an account may own' },
  { name: 'publishing', description: 'Trusted publishers: builds that publish without a stored secret' },
  { name: 'images', description: 'Images in descriptions, changelogs, reports and messages' },
  { name: 'reports', description: 'Reports of content and users to moderators' },
  { name: 'threads', description: 'Conversations with moderators, about a project or a report' },
  { name: 'moderation', description: 'Queues of projects and file scans for moderators' },
  { name: 'analytics', description: 'Reporting and querying of views, downloads and playtime' },
  { name: 'changes', description: 'Changes of the public catalogue' },
  { name: 'webhooks', description: 'Addresses that receive events, and their deliveries' },
  { name: 'statistics', description: 'Size of the catalogue' },
  { name: 'payouts', description: 'Balance and payout history of the caller' },
  { name: 'affiliates', description: 'Affiliate codes and their use' },
  { name: 'accounts', description: 'Sign-up, sign-in, sessions and access tokens; also under `/v2/_internal`' },
  { name: 'oauth', description: 'Third-party applications that act for a user' },
  { name: 'build tools', description: 'Endpoints for build tools and for update checkers of loaders' },
  { name: 'operator', description: 'Administration of the service' },
  { name: 'meta', description: 'Health, metrics and version of the service' },
] as const
export type TagName = (typeof TAGS)[number]['name']

/** Describes the required credentials and the cost of a route; undefined for public routes of cost 1. */
export function describeAccess(config: FastifyContextConfig): string | undefined {
  const { cost = 1 } = config
  const parts = [
    describeCaller(config),
    describeLimits(config),
    cost === 1 ? undefined : `Counts as ${cost} requests at the rate limit.`,
  ]
  const sentences = parts.filter((part) => part !== undefined)
  return sentences.length === 0 ? undefined : sentences.join(' ')
}

function describeCaller({ auth, role }: FastifyContextConfig): string | undefined {
  if (auth === 'public') return undefined
  if (auth === 'operator') return 'Operators only: requires the header `X-Admin-Key` or the session of an admin.'
  if ('read' in auth) return optionalToken(auth.read)
  const requirement =
    auth.scope.length === 0 ? 'Requires a token.' : `Requires a token with ${listed(auth.scope, 'and')}.`
  return role === undefined
    ? requirement
    : `${requirement} ${role === 'admin' ? 'Admins' : 'Moderators and admins'} only.`
}

const LIMITS: Readonly<Record<LimitedTokens, string>> = {
  resource: 'Fine-grained tokens work within their limits.',
  versions: 'Fine-grained tokens and those of trusted publishers work within their limits.',
  own: 'Fine-grained tokens work, without private data.',
  anonymous: 'Ignores fine-grained tokens.',
}

function describeLimits({ auth, role, limitedTokens }: FastifyContextConfig): string | undefined {
  if (auth === 'public' || auth === 'operator' || role !== undefined) return undefined
  return limitedTokens === undefined ? 'Rejects fine-grained tokens.' : LIMITS[limitedTokens]
}

function optionalToken(scopes: readonly ScopeName[]): string {
  if (scopes.length === SCOPES.length) return 'Token optional, with any scope.'
  return `Token optional. A token with ${listed(scopes, 'or')} identifies the caller.`
}

function listed(scopes: readonly ScopeName[], conjunction: 'and' | 'or'): string {
  return scopes.map((scope) => `\`${scope}\``).join(` ${conjunction} `)
}

/** The default description of each response status. */
export const STATUS_DESCRIPTIONS: Readonly<Record<string, string>> = {
  200: 'Success',
  201: 'Created',
  202: 'Accepted: the work continues after the response',
  204: 'Success, without a body',
  206: 'The requested range',
  303: 'Redirect to `Location`',
  304: 'Not modified',
  307: 'Redirect to `Location`',
  400: 'The request is invalid',
  401: 'Credentials are missing or invalid',
  403: 'Permission denied',
  404: 'Not found, or not visible to the caller',
  408: 'The request was not complete in time',
  409: 'Conflicts with existing data',
  410: 'Permanently removed',
  414: 'The path is too long',
  416: 'The range is outside the file',
  424: 'Another service did not respond',
  429: 'Too many requests',
  500: 'Internal error',
  503: 'Unavailable',
}
