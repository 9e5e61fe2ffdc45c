// The request of a page: who asks, what the visitor chose, the submitted values, and the ways to respond.

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Viewer } from '#features/basics/access/viewer.ts'
import type { TokenDirectory } from '#features/basics/authentication/token-directory.ts'
import type { ExternalImages } from '#features/basics/external-images/external-images.ts'
import type { sharedChecks } from '#features/basics/meta/readiness.ts'
import type { AccountDeps } from '#features/people/accounts/account-deps.ts'
import { owesConsent } from '#features/people/accounts/terms/consent-cache.ts'
import { getUnreadCount } from '#features/people/notifications/unread-cache.ts'
import { listCachedUsers } from '#features/people/users/user-cache.ts'
import type { DownloadTrends } from '#features/reading/analytics/statistics/download-trends.ts'
import type { ProjectStatistics } from '#features/reading/analytics/statistics/project-statistics.ts'
import { parseToken } from '#lib/access/tokens.ts'
import { ApiError } from '#lib/errors.ts'
import { viewOf } from '#lib/text/json-bytes.ts'
import type { RateGrantDirectory } from '#platform/http/limits/rate-grants.ts'
import type { Deps } from '#ports/deps.ts'
import type { Markup } from '#web/ui/html.ts'
import { isMessageKey, type Language, type MessageKey, type MessageValues } from '#web/ui/languages.ts'
import type { Page } from '#web/ui/layout.ts'
import { type PageContext, pathTo, type Site } from '#web/ui/page-context.ts'
import { isSet, readChoices, type SessionCookie, type Setup } from './cookies.ts'
import { type FormLimits, fieldOf, fieldsOf } from './forms/read-form.ts'
import type { PageCache } from './page-cache.ts'
import type { PageRoutes } from './page-routes.ts'
import { signInPath, withQuery } from './paths.ts'
import { type PersonalPart, PersonalParts, type Reader } from './personal-parts.ts'
import { type SendOptions, type ShownPage, sendPage } from './send-page.ts'
import { currentSite } from './site.ts'
import type { UserTexts } from './user-texts.ts'

/** Dependencies of pages. Created once per server. */
export type WebDeps = {
  deps: Deps
  accounts: AccountDeps
  tokens: TokenDirectory
  rateGrants: RateGrantDirectory
  cookie: SessionCookie
  site: Site
  pageCache: PageCache
  pageRoutes: PageRoutes
  texts: UserTexts
  externalImages: ExternalImages
  statistics: ProjectStatistics
  trends: DownloadTrends
  /** Checks the dependencies as `/ready` does. */
  checks: ReturnType<typeof sharedChecks>
}

/** Common properties of the pages in one part of the web site. */
export type Area = {
  /** Properties of every page that does not define them. */
  defaults: Partial<Page>
  /** Whether browsers can store pages. Pages for the account contain secrets and personal data. */
  isStored: boolean
  /** Link on error pages, with its label. */
  wayOut: { path: string; label: MessageKey }
  /** Limits of forms. Default: `SMALL_FORMS` */
  forms?: FormLimits
  /** Whether forms work only for users who agreed to the newest Terms. Default: false */
  needsConsent?: true
  /** Message of all errors 404. Default: the message of the error. */
  missing?: MessageKey
}

/** Confirmation that a page shows after a form. The URL contains the name, so that a link cannot show other text. */
export type Done = MessageKey extends infer Key ? (Key extends `done.${infer Name}` ? Name : never) : never

/** `deps.cache` records what the page reads, if the page is cached: handlers must use the `deps` of their request. */
export type PageRequest = Omit<WebDeps, 'site' | 'tokens' | 'pageCache'> & {
  req: FastifyRequest
  reply: FastifyReply
  /** The signed-in user. A cached page has no viewer: everyone gets the same page, except for its personal parts. */
  viewer: Viewer | null
  page: PageContext
  /** The language of the page with its messages. */
  language: Language
  t: Language['t']
  rich: Language['rich']
  setup: Setup
  /** Returns a decoded parameter of the path, empty if it is missing. */
  param(name: string): string
  /** Returns the first value of a query key, empty if it is missing. */
  query(name: string): string
  queries(name: string): string[]
  /** Returns the value of a form field, empty if it is missing. @throws ApiError if the form contains the field twice */
  field(name: string): string
  fields(name: string): string[]
  /** Inserts a part of a cached page that differs between readers. The rest is rendered without a viewer. */
  personal(part: PersonalPart): Markup
  /** Returns why the form may not write now: read-only mode, or the missing consent to the newest Terms. */
  writeRefusal(): ApiError | undefined
  show(page: ShownPage): FastifyReply
  /** Leads to another page of this site after a form, which can confirm what was done. */
  redirect(path: string, done?: Done): FastifyReply
  /** Leads to another path of this site permanently, with the query of the request. */
  redirectPermanently(path: string): FastifyReply
  /** Leads to the sign-in page, which leads on to the path. Default: the URL of the request. */
  toSignIn(next?: string): FastifyReply
}

/** Sends a page that is rendered without a viewer, for all readers. */
export type SharedShow = (options: SendOptions, page: ShownPage) => FastifyReply

/** Identifies the viewer and reads their choices. With `showShared`, the request has no viewer. */
export async function readRequest(
  web: WebDeps,
  req: FastifyRequest,
  reply: FastifyReply,
  { area, showShared }: { area: Area; showShared?: SharedShow },
): Promise<PageRequest> {
  const { site, tokens, pageCache: _, ...shared } = web
  const { deps, cookie } = shared
  // Fastify has not parsed the cookies if it rejected the request early.
  const token = req.cookies ? cookie.read(req) : undefined
  if (showShared === undefined) req.viewer = await findViewer(tokens, req, token)
  const viewer = showShared === undefined ? req.viewer : null
  const [user] = viewer === null ? [] : await listCachedUsers(deps, [viewer.id])
  const { theme, language, setup, hidden } = readChoices(deps, req)
  const parts = new PersonalParts()
  let csrfToken: string | undefined
  const page: PageContext = {
    site: await currentSite(deps, site, { texts: web.texts, language, hidden }),
    theme,
    language,
    address: req.raw.url ?? '',
    account: user === undefined || viewer === null ? undefined : { ...viewOf(user), role: viewer.role },
    now: deps.now(),
    owesConsent: viewer !== null && (await owesConsent(deps, viewer.id)),
    unread: viewer === null ? 0 : await getUnreadCount(deps, viewer.id),
    csrfToken: () => {
      if (showShared !== undefined) throw new Error('A page for all readers cannot contain the token of one reader')
      csrfToken ??= reply.generateCsrf()
      return csrfToken
    },
    personal: (part) => parts.addToPage(part),
  }
  const reader: Reader = { deps, viewer, page, setup }
  const isPrivate = viewer !== null || isSet(setup)
  const storage = !area.isStored ? 'never' : isPrivate ? 'private' : 'public'
  const sending: SendOptions = { req, reply, reader, parts, storage }
  const params = (req.params ?? {}) as Record<string, string>
  return {
    ...shared,
    ...reader,
    language,
    t: language.t,
    rich: language.rich,
    req,
    reply,
    param: (name) => params[name] ?? '',
    query: (name) => fieldsOf(req.query, name)[0] ?? '',
    queries: (name) => fieldsOf(req.query, name),
    field: (name) => fieldOf(req.body, name),
    fields: (name) => fieldsOf(req.body, name),
    personal: (part) => parts.add(part),
    writeRefusal: () => writeRefusal(page, req.routeOptions.config.needsConsent === true),
    show: (shown) => (showShared ?? sendPage)(sending, { ...area.defaults, ...shown }),
    redirect: (path, done) => reply.redirect(pathTo(page, done === undefined ? path : withQuery(path, { done })), 303),
    redirectPermanently: (path) =>
      reply.redirect(pathTo(page, `${path}${/\?.*/.exec(req.raw.url ?? '')?.[0] ?? ''}`), 301),
    toSignIn: (next = page.address) => reply.redirect(pathTo(page, signInPath(next)), 303),
  }
}

function writeRefusal({ site, language, owesConsent }: PageContext, needsConsent: boolean): ApiError | undefined {
  const details = { isTranslated: true }
  const readOnly = site.readOnly?.(language)
  if (readOnly !== undefined) return new ApiError('service_unavailable', readOnly, { details })
  if (!needsConsent || owesConsent !== true) return undefined
  return new ApiError('forbidden', language.t('terms.first'), { details })
}

/** Accepts session tokens only: a cookie never contains another kind of token. */
export async function findViewer(tokens: TokenDirectory, req: FastifyRequest, token = ''): Promise<Viewer | null> {
  if (parseToken(token)?.kind !== 'session') return null
  const viewer = await tokens.authenticate(token, req)
  return typeof viewer === 'object' ? viewer : null
}

/** Returns the confirmation that the URL names, if it is known. */
export function noticeOf(
  { query, page }: Pick<PageRequest, 'query' | 'page'>,
  values?: MessageValues,
): string | undefined {
  const sent = `done.${query('done')}`
  const unsent = `${sent}.unsent`
  const key = !page.site.sendsMail && isMessageKey(unsent) ? unsent : sent
  if (!isMessageKey(key)) return undefined
  try {
    return page.language.t(key, values)
  } catch {
    // The message has values that this page does not know: the URL was made by hand.
    return undefined
  }
}
