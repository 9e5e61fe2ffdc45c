// How a page of the site is written: registered with its path and a function that loads what it shows. Here is who
// looks at it, how it is sent, and how it may be kept.

import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import type { DownloadTrends } from '#features/operations/analytics/statistics/download-trends.ts'
import type { ProjectStatistics } from '#features/operations/analytics/statistics/project-statistics.ts'
import { listCachedUsers } from '#features/people/users/user-cache.ts'
import type { UserView } from '#features/people/users/views.ts'
import type { Viewer } from '#lib/access/viewer.ts'
import { entityTag } from '#lib/text/json-bytes.ts'
import type { Markup } from '#platform/html/html.ts'
import { layout, type Page } from '#platform/html/layout.ts'
import { createMarkdown, type Markdown } from '#platform/html/markdown/markdown.ts'
import { type PageContext, pathTo } from '#platform/html/page-context.ts'
import type { TokenDirectory } from '#platform/http/auth/token-directory.ts'
import type { FastPathRoute } from '#platform/http/fast-path/fast-path.ts'
import { matchesEntityTag } from '#platform/http/responses/entity-tags.ts'
import type { RateBudget } from '#platform/http/route-config.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import type { Figures } from './figures.ts'
import { fieldsOf } from './forms.ts'
import { foundKey, type Keeper, keptPage, makeKept, markPage, PageDocument, pageKey, sendKept } from './page-cache.ts'
import { viewerOf } from './page-request.ts'
import { readPreferences } from './preferences.ts'
import type { SessionCookie } from './session-cookie.ts'
import { isSet, readSetup, type Setup } from './setup.ts'
import { currentSite, type ServedSite } from './site.ts'

export type SiteDeps = {
  deps: Deps
  tokens: TokenDirectory
  cookie: SessionCookie
  site: ServedSite
  texts: Texts
  statistics: ProjectStatistics
  trends: DownloadTrends
  figures: Figures
}

export type SiteRequest = {
  req: FastifyRequest
  reply: FastifyReply
  deps: Deps
  viewer: Viewer | null
  page: PageContext
  setup: Setup
  texts: Texts
  statistics: ProjectStatistics
  trends: DownloadTrends
  figures: Figures
  /** What the path names at this place, decoded. */
  param(name: string): string
  /** The first value of a query key; empty when it is absent. */
  query(name: string): string
  /** All values of a query key. */
  queries(name: string): string[]
  show(page: Page & { status?: number }): FastifyReply
  /**
   * The same for a page of which `answers` says all that can change besides what is read through `deps.cache`: `make` is
   * called when no page of the same answers is kept.
   */
  showFound(
    answers: readonly (Uint8Array | string)[],
    make: () => Promise<Page & { status?: number }>,
  ): Promise<FastifyReply>
  /** Leads those who are not signed in through that and back to the path, by default the address of the request. */
  toSignIn(path?: string): FastifyReply
  /** Leads to another path of ours for good, with the query. */
  moved(path: string): FastifyReply
}

type Answer = (request: SiteRequest) => Promise<FastifyReply>
type Options = {
  name: string
  prefers?: 'html'
  method?: 'GET' | 'POST'
  budget?: RateBudget
  /**
   * The page is kept as bytes for those without a session. `by-parts`: all that it shows is read through `deps.cache`, or
   * announced as a change of something that is. `by-answers`: it is shown by `showFound`.
   */
  kept?: 'by-parts' | 'by-answers'
}

/** Registers a page. `name` is its operation's, which begins with `site`. */
export function sitePage(app: App, given: SiteDeps, path: string, options: Options, answer: Answer): void {
  const { kept, name } = options
  const config = { auth: 'public', budget: options.budget ?? 'page' } as const
  const route = { url: path, operation: name, config }
  app.route({
    method: options.method ?? 'GET',
    url: path,
    ...(options.prefers === undefined ? {} : { constraints: { prefers: options.prefers } }),
    config,
    schema: { operationId: name, hide: true },
    handler: kept === undefined ? plain(given, answer) : keeping(given, answer, { kept, route }),
  })
}

type Handler = (req: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply> | undefined

function plain(given: SiteDeps, answer: Answer): Handler {
  return async (req, reply) => answer(await readSiteRequest(given, req, reply))
}

/** A page that is kept by its parts is sent without a promise. */
function keeping(
  given: SiteDeps,
  answer: Answer,
  { kept, route }: { kept: NonNullable<Options['kept']>; route: FastPathRoute },
): Handler {
  const { deps, cookie } = given
  const usual = plain(given, answer)
  return (req, reply) => {
    const key = pageKey({ head: req, cookie, deps })
    if (key === undefined) return usual(req, reply)
    const known = kept === 'by-parts' ? keptPage(deps, key) : undefined
    if (known !== undefined) return void sendKept(req, reply, known)
    return makeKept(deps, async (cache, keep) =>
      answer(await readSiteRequest({ ...given, deps: { ...deps, cache } }, req, reply, { key, keep, route })),
    )
  }
}

export async function readSiteRequest(
  given: SiteDeps,
  req: FastifyRequest,
  reply: FastifyReply,
  keeper?: Keeper,
): Promise<SiteRequest> {
  const { deps, texts, statistics, trends, figures } = given
  // Absent when a request is refused before its cookies were read.
  req.viewer = req.cookies ? await viewerOf(given, req) : null
  const page = await siteContext(given, req, reply)
  const setup = readSetup(deps.config, deps.taxonomy, req)
  const values = (req.query ?? {}) as Record<string, unknown>
  const params = (req.params ?? {}) as Record<string, string>
  const sent: Sent = { req, reply, page, isOwn: req.viewer !== null || isSet(setup) }
  return {
    req,
    reply,
    deps,
    viewer: req.viewer,
    page,
    setup,
    texts,
    statistics,
    trends,
    figures,
    param: (name) => params[name] ?? '',
    query: (name) => fieldsOf(values, name)[0] ?? '',
    queries: (name) => fieldsOf(values, name),
    show: (shown) => sendPage({ ...sent, keeper }, shown),
    showFound: async (answers, make) => {
      if (keeper === undefined) return sendPage(sent, await make())
      const key = foundKey(keeper.key, answers)
      const known = keptPage(deps, key)
      if (known === undefined) return sendPage({ ...sent, keeper: { ...keeper, key } }, await make())
      sendKept(req, reply, known)
      return reply
    },
    toSignIn: (path = page.address) =>
      reply
        .header('cache-control', 'private, no-cache')
        .redirect(pathTo(page, `${page.site.paths.signIn}?return=${encodeURIComponent(path)}`), 303),
    moved: (path) => reply.redirect(pathTo(page, `${path}${/\?.*/.exec(req.raw.url ?? '')?.[0] ?? ''}`), 301),
  }
}

async function siteContext({ deps, site }: SiteDeps, req: FastifyRequest, reply: FastifyReply): Promise<PageContext> {
  const [user] = req.viewer === null ? [] : await listCachedUsers(deps, [req.viewer.id])
  const current = await currentSite(deps, site)
  let token: string | undefined
  return {
    site: current,
    ...readPreferences(deps.config, req),
    address: req.raw.url ?? '',
    account: user === undefined ? undefined : (JSON.parse(user.bytes.toString()) as UserView),
    now: deps.now(),
    csrfToken: () => {
      token ??= reply.generateCsrf()
      return token
    },
  }
}

type Sent = {
  req: FastifyRequest
  reply: FastifyReply
  page: PageContext
  isOwn: boolean
  keeper?: Keeper | undefined
}

function sendPage(
  { req, reply, page, isOwn, keeper }: Sent,
  { status = 200, ...shown }: Page & { status?: number },
): FastifyReply {
  const text = layout(page, shown)
  // A page with a token in a form is one person's, and another one each time.
  if (keeper !== undefined && status === 200 && !reply.hasHeader('set-cookie')) {
    const document = new PageDocument(text, { isOwn, madeAt: page.now, route: keeper.route })
    keeper.keep(keeper.key, document)
    sendKept(req, reply, document)
    return reply
  }
  void markPage(reply.status(status), isOwn).header('vary', 'accept, accept-language, cookie')
  if (status === 200) {
    const etag = entityTag(text)
    void reply.header('etag', etag)
    const known = req.headers['if-none-match']
    if (known !== undefined && matchesEntityTag(known, etag)) return reply.status(304).send()
  }
  return reply.send(text)
}

/** Texts of people as markup, each rendered once. */
export type Texts = { render(text: string, page: PageContext): Promise<Markup>; close(): Promise<void> }

const KEPT_BYTES = 32 * 1024 * 1024

/** What is kept is found by its content, so that it is never that of an older text. */
export function createTexts({ config, log }: Pick<Deps, 'config' | 'log'>): Texts {
  const markdown: Markdown = createMarkdown({
    imageOrigins: [new URL(config.files.baseUrl).origin],
    onError: (error) => log.warn({ err: error }, 'A text is shown as it was written'),
  })
  const kept = new LRUCache<string, Markup>({
    maxSize: KEPT_BYTES,
    sizeCalculation: (markup) => 2 * String(markup).length + 200,
  })
  return {
    render: async (text, { language }) => {
      const key = `${language.tag} ${createHash('sha256').update(text).digest('base64')}`
      const known = kept.get(key)
      if (known !== undefined) return known
      const markup = await markdown.render(text, language)
      // One that could not be rendered is tried again.
      if (!String(markup).startsWith('<div class="prose plain"')) kept.set(key, markup)
      return markup
    },
    close: () => markdown.close(),
  }
}
