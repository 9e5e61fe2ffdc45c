// The words of the published description that belong to no single route: what every client needs to know, what each
// group of operations is about, who may call an operation, and what its statuses mean.
import type { FastifyContextConfig } from 'fastify'
import type { ScopeName } from '#lib/scopes.ts'

export const INTRODUCTION = `A content hosting service: projects, versions and files, with search, teams and analytics.

- **User-Agent**: every request names its program there, best with a way to reach whoever runs it. Without it: 400.
- **Tokens** stand in \`Authorization\`, raw or as \`Bearer\`. Each operation says which scope of a token it needs. What a
  caller may not see is absent for him: 404.
- **IDs** are 8 characters of \`0-9A-Za-z\` and never change. Where a slug or a username will do too, the ID wins.
- **Lists of IDs** in a query are JSON arrays in one value: \`ids=["AABBCCDD"]\`, percent-encoded; at most 1000.
- **Bodies** are JSON in UTF-8, at most 2 MiB; nothing is converted. In PATCH an absent key keeps its value and \`null\`
  clears it, where it can be empty.
- **Times** are RFC 3339 in UTC with milliseconds.
- **Errors** are \`{"error", "description", "details"}\`: branch on \`error\` and the status; \`details.field\` names a faulty
  value. 5xx, 424 and 429 may be tried again after a pause.
- **Rate**: 300 requests a minute for one address. \`X-Ratelimit-Limit\`, \`-Remaining\` and \`-Reset\` say where you stand,
  \`Retry-After\` of a 429 how long to wait.
- **Caching**: answers that may be kept have an \`ETag\`; \`If-None-Match\` gets 304. HEAD answers wherever GET does.`

export const INTRODUCTION_V2 = `The older version of the API, for the clients that speak it: the same catalogue, the same rules, other names.
Whatever is new stands in version 3, described at \`/docs/openapi.json\`; collections, organizations, analytics and payouts
are there alone. Tokens, IDs, rate and caching are the same in both.

- What is absent, or hidden from the caller, is 404 with an empty body. Other errors are \`{"error", "description",
  "details"}\`.
- Unknown keys of queries and bodies are ignored, an empty value of a query counts as none, and numbers above a limit count
  as the limit.
- What creates something answers 200 with it.`

/** The groups of operations, in the order in which a newcomer reads them; every tag of a route stands here. */
export const TAGS = [
  { name: 'projects', description: 'What is published: mods, modpacks, resource packs and the like' },
  { name: 'versions', description: 'The releases of a project, with their files' },
  { name: 'version files', description: 'From the hash of a file to its version, project and updates' },
  { name: 'files', description: 'The bytes of files and pictures' },
  { name: 'search', description: 'Finding projects by words and filters' },
  { name: 'tags', description: 'What projects and versions can be tagged with' },
  { name: 'users', description: 'Profiles, and the lists of what a person has' },
  { name: 'follows', description: 'Following projects' },
  { name: 'collections', description: 'Lists of projects that people keep' },
  { name: 'notifications', description: 'What a person is told' },
  { name: 'teams', description: 'The members of projects and organizations, and what each may do' },
  { name: 'organizations', description: 'Groups that own projects' },
  { name: 'limits', description: 'How many things an account may own' },
  { name: 'images', description: 'Pictures inside texts' },
  { name: 'reports', description: 'Telling moderators of what should not be here' },
  { name: 'threads', description: 'Conversations with moderators' },
  { name: 'moderation', description: 'The queues of moderators' },
  { name: 'analytics', description: 'Reporting views and playtime; asking about one’s projects' },
  { name: 'statistics', description: 'How much there is' },
  { name: 'payouts', description: 'What a person has earned and been paid' },
  { name: 'affiliates', description: 'Affiliate codes' },
  { name: 'accounts', description: 'Signing up and in, sessions, access tokens; also under `/v2/_internal`' },
  { name: 'oauth', description: 'Applications of third parties that act for a person' },
  { name: 'build tools', description: 'Addresses that build tools and loaders read' },
  { name: 'operator', description: 'For those who run the service' },
  { name: 'meta', description: 'The service itself' },
] as const
export type TagName = (typeof TAGS)[number]['name']

/** Who may call a route, for its description; undefined where there is nothing to say. */
export function describeAccess({ auth, role }: FastifyContextConfig): string | undefined {
  if (auth === 'public') return undefined
  if (auth === 'operator') return 'For operators: the header `X-Admin-Key`, or the session of an admin.'
  if ('read' in auth) return `Open to all; a token with ${listed(auth.read, 'or')} makes the caller known.`
  const needed = auth.scope.length === 0 ? 'Needs a token.' : `Scope: ${listed(auth.scope, 'and')}.`
  return role === undefined ? needed : `${needed} For ${role === 'admin' ? 'admins' : 'moderators and admins'}.`
}

function listed(scopes: readonly ScopeName[], joint: 'and' | 'or'): string {
  return scopes.map((scope) => `\`${scope}\``).join(` ${joint} `)
}

/** What a status means, where its route says nothing more of it. */
export const STATUS_WORDS: Readonly<Record<string, string>> = {
  200: 'Success',
  201: 'Created',
  206: 'The range that was asked for',
  304: 'What the client has is still right',
  307: 'Go to the address in `Location`',
  503: 'Not ready',
  '4XX': 'Refused; `error` says why',
  '5XX': 'A fault of the service; the description ends in the ID of the request',
}
