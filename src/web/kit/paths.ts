// The paths of all pages. Each resource has one canonical path, and only this file builds it. Paths are relative to the
// public URL, which can contain a path.
import { AUTHORIZE_PAGE } from '#features/people/oauth/authorize/requests.ts'
import { MAIL_PAGES } from '#ports/mail/messages.ts'
import type { Taxonomy } from '#taxonomy/taxonomy.ts'
import type { Feed } from '#web/ui/layout.ts'
import { type PageContext, pathTo } from '#web/ui/page-context.ts'

export const PATHS = {
  ...MAIL_PAGES,
  authorize: AUTHORIZE_PAGE,
  reference: '/docs',
  signInCode: '/account/sign-in/code',
  signInProvider: '/account/sign-in/provider',
  signOut: '/account/sign-out',
  signUp: '/account/sign-up',
  checkMail: '/account/check-mail',
  firstAdmin: '/account/first-admin',
  passwordStrength: '/account/password-strength',
  forgotPassword: '/account/forgot-password',
  profile: '/account',
  security: '/account/security',
  tokens: '/account/tokens',
  applications: '/account/applications',
  authorizations: '/account/authorizations',
  data: '/account/data',
  terms: '/account/terms',
  webhooks: '/account/webhooks',
  preferences: '/preferences',
  setup: '/setup',
  search: '/search',
  pack: '/pack',
  packFiles: '/pack/files',
  packSave: '/pack/save',
  suggestions: '/suggestions',
  report: '/report',
  embed: '/oembed',
  speculation: '/speculation-rules.json',
  dashboard: '/dashboard',
  dashboardProjects: '/dashboard/projects',
  dashboardUploads: '/dashboard/uploads',
  uploadedFiles: '/dashboard/uploads/files',
  dashboardOrganizations: '/dashboard/organizations',
  dashboardCollections: '/dashboard/collections',
  dashboardPacks: '/dashboard/packs',
  follows: '/dashboard/follows',
  analytics: '/dashboard/analytics',
  notifications: '/dashboard/notifications',
  revenue: '/dashboard/revenue',
  affiliates: '/dashboard/affiliates',
  publish: '/dashboard/publish',
  newOrganization: '/new/organization',
  newCollection: '/new/collection',
  moderation: '/moderation',
  moderationQueue: '/moderation/queue',
  moderationReports: '/moderation/reports',
  moderationScans: '/moderation/scans',
  moderationThreads: '/moderation/threads',
  moderationAdvisories: '/moderation/advisories',
  newModeratedAdvisory: '/moderation/advisories/new',
  moderationUsers: '/moderation/users',
  moderationTexts: '/moderation/texts',
  moderationTakedown: '/moderation/takedown',
  moderationLog: '/moderation/log',
  moderationStatistics: '/moderation/statistics',
  operator: '/operator',
  firstSteps: '/operator/first-steps',
  operatorUsers: '/operator/users',
  operatorUser: '/operator/user',
  operatorInvitations: '/operator/invitations',
  operatorSignUps: '/operator/sign-ups',
  operatorLimits: '/operator/limits',
  operatorPayouts: '/operator/payouts',
  operatorTags: '/operator/tags',
  operatorKeys: '/operator/keys',
  operatorWebhooks: '/operator/webhooks',
  operatorSettings: '/operator/settings',
  operatorPages: '/operator/pages',
  announcement: '/operator/announcement',
  readOnly: '/operator/read-only',
} as const

/** Project types that have a list, in the order of the tabs. */
export const PROJECT_TYPES = ['mod', 'modpack', 'resourcepack', 'shader', 'datapack', 'plugin'] as const
export type ProjectType = (typeof PROJECT_TYPES)[number]

/** Returns the project types that this instance supports. */
export function offeredTypes(taxonomy: Taxonomy): ProjectType[] {
  return PROJECT_TYPES.filter((type) => taxonomy.projectTypes.includes(type))
}

/** Returns the first segments of the paths of projects. */
export const projectSegments = (taxonomy: Taxonomy): string[] => [...offeredTypes(taxonomy), 'project']

/** Returns the path of the list of a type, or of the search. */
export function listPath(type: ProjectType | undefined): string {
  return type === undefined ? PATHS.search : `/${type}s`
}

/** Returns the path of a project. A project without versions has no type yet. */
export function projectPath({ slug, project_types }: { slug: string; project_types: readonly string[] }): string {
  const type = PROJECT_TYPES.find((name) => project_types.includes(name)) ?? 'project'
  return `/${type}/${encodeURIComponent(slug)}`
}

export function versionPath(project: string, { id, version_number }: { id: string; version_number: string }): string {
  // A number that contains a slash, or only dots, would change the path.
  return `${project}/version/${/^\.*$|[/\\]/.test(version_number) ? id : encodeURIComponent(version_number)}`
}

export const userPath = (name: string): string => `/user/${encodeURIComponent(name)}`
export const organizationPath = (name: string): string => `/organization/${encodeURIComponent(name)}`
export const collectionPath = (id: string): string => `/collection/${id}`
/** Returns the path of a saved pack. */
export const savedPackPath = (username: string, slug: string): string => `/pack/${encodeURIComponent(username)}/${slug}`
export const reviewPath = (projectId: string): string => `/moderation/project/${projectId}`
export const advisoryPath = (id: string): string => `/advisory/${id}`
export const reportPath = (item: string, id: string): string => withQuery(PATHS.report, { item, id })
/** Returns the path of the sign-in page, which leads on to `next`. */
export const signInPath = (next: string): string => `${PATHS.signIn}?return=${encodeURIComponent(next)}`

/** Returns the feed of a list: `/mods?c=magic` becomes `/mods.atom?c=magic`. */
export function feedPath(list: string, format: 'atom' | 'json' = 'atom'): string {
  return list.replace(/^[^?]+/, (path) => `${path}.${format}`)
}

/** Returns the feeds of a list in both formats, for the head of its page. */
export function feedLinks(list: string, title: string): Feed[] {
  return [
    { path: feedPath(list), title, type: 'application/atom+xml' },
    { path: feedPath(list, 'json'), title, type: 'application/feed+json' },
  ]
}

/** Adds the values that are not empty to a path as its query. They replace values of the path with the same name. */
export function withQuery(
  path: string,
  values: Readonly<Record<string, string | readonly string[] | undefined>>,
): string {
  const [pathname = '', given] = path.split('?')
  const query = new URLSearchParams(given)
  for (const [name, list] of Object.entries(values)) {
    query.delete(name)
    for (const value of [list].flat()) if (value !== undefined && value !== '') query.append(name, value)
  }
  return query.size === 0 ? pathname : `${pathname}?${query}`
}

/** Returns the number in the query key `page`, or 1 if it is missing or invalid. */
export function pageNumber({ query }: { query(name: string): string }): number {
  return Number(/^[1-9]\d{0,6}$/.exec(query('page'))?.[0] ?? 1)
}

/** Returns the items on the requested page, or on the last page if there are fewer, and the links for `pager`. */
export function listPage<Item>(
  request: { page: PageContext; query(name: string): string },
  items: readonly Item[],
  { path, size }: { path: string; size: number },
) {
  const last = Math.max(1, Math.ceil(items.length / size))
  const current = Math.min(pageNumber(request), last)
  const href = (number: number): string =>
    pathTo(request.page, withQuery(path, { page: number === 1 ? undefined : String(number) }))
  return { shown: items.slice((current - 1) * size, current * size), pages: { current, last, href } }
}

const PATH_LENGTH_MAX = 16_384

/** Returns the path and query that `text` names on this site; undefined if it leads to another site. Callers pass untrusted input. */
export function ownPath(text: string): string | undefined {
  if (text.length > PATH_LENGTH_MAX || !/^\/(?!\/)/.test(text) || /[\\\p{Cc}]/u.test(text)) return undefined
  const url = URL.parse(text, 'http://local')
  // Checks the path after the dots are resolved, as browsers do, because two slashes can remain at its start.
  if (url === null || url.host !== 'local' || url.pathname.startsWith('//')) return undefined
  return `${url.pathname}${url.search}`
}

/** Returns the page to show after the sign-in: `text` if it is a path of this site, otherwise the profile settings. */
export function returnPath(text: string): string {
  return ownPath(text) ?? PATHS.profile
}

/** Whether the page can send the user on to an application without a click. */
export function leavesSite(path: string): boolean {
  return path === AUTHORIZE_PAGE || path.startsWith(`${AUTHORIZE_PAGE}?`)
}

/** Returns the path of the server side of a version of a modpack. */
export const serverPackPath = (version: string): string => `/v3/version/${version}/server.zip`
