// The texts of the API descriptions that do not belong to one route.
import { SCOPES } from '#features/basics/access/scopes.ts'
import { permissionTables, scopeTable } from '#features/basics/authentication/bit-tables.ts'
import { describeAccess } from '#features/basics/authentication/describe-access.ts'
import { toV2Paths } from '#features/compat/v2/v2-paths.ts'
import type { RecordedExample } from '#platform/http/openapi/examples.ts'
import type { ApiDescription } from '#platform/http/openapi/openapi.ts'
import examples from './api/examples.json' with { type: 'json' }
import { PROPERTIES_A_TO_L } from './api/properties-a-to-l.ts'
import { PROPERTIES_M_TO_Z } from './api/properties-m-to-z.ts'

const INTRODUCTION = `A content hosting service: projects, versions and files, with search, teams and analytics.

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

const INTRODUCTION_V2 = `Version 2 of the API, for existing clients: the same catalogue and rules with other names. New features are available
only in version 3 of the API, described at \`/docs/openapi.json\`, for example collections, organizations, analytics and
payouts. Tokens, IDs, the rate limit and caching are the same in both versions.

- A resource that is missing, or hidden from the caller, returns 404 with an empty body. Other errors are \`{"error", "description",
  "details"}\`.
- Unknown keys of queries and bodies are ignored. An empty query value counts as missing. A number above a limit counts as
  the limit.
- Operations that create a resource return it with status 200.`

/** The groups of operations in reading order. Contains every tag of a route. */
const TAGS = [
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

/** The scopes that an application can request. Reserved scopes grant nothing. */
const OAUTH_SCOPES = Object.fromEntries(
  SCOPES.filter(({ group, restricted }) => group !== 'Reserved' && !restricted).map(({ name, explanation }) => [
    name,
    explanation,
  ]),
)

const shared = {
  tags: TAGS,
  describeAccess,
  scopes: OAUTH_SCOPES,
  properties: { ...PROPERTIES_A_TO_L, ...PROPERTIES_M_TO_Z },
  examples: examples as Record<string, RecordedExample>,
}

/** `v3` also contains the operations without a version. */
export const API_DESCRIPTIONS = {
  v3: {
    ...shared,
    decorator: 'swagger',
    title: 'Depot',
    introduction: INTRODUCTION,
    url: '/docs/openapi.json',
    operationId: 'getOpenApi',
    summary: 'Get this OpenAPI description',
    covers: (url) => !url.startsWith('/v2/'),
  },
  v2: {
    ...shared,
    decorator: 'swaggerV2',
    title: 'Depot, version 2',
    introduction: INTRODUCTION_V2,
    url: '/docs/v2/openapi.json',
    operationId: 'getOlderOpenApi',
    summary: 'Get the OpenAPI description of version 2',
    covers: (url) => url.startsWith('/v2/'),
    correctText: toV2Paths,
  },
} as const satisfies Record<string, ApiDescription>
