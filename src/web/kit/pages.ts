// Registers pages: one scope for each area of the web site, and one function for each kind of page.

import type { FastifyContextConfig, FastifyReply } from 'fastify'
import { findAccount } from '#features/people/accounts/queries.ts'
import type { AccountRow } from '#features/people/users/queries.ts'
import { isAdmin, isModerator, type Viewer } from '#lib/access/viewer.ts'
import { notFound } from '#lib/errors.ts'
import { openScope } from '#platform/http/mounts.ts'
import type { App } from '#platform/http/server.ts'
import { showError } from './errors.ts'
import { registerFormParsers, SMALL_FORMS } from './forms.ts'
import { type Area, type PageRequest, readRequest, type WebDeps } from './request.ts'
import { protectPages } from './safety.ts'
import { sendCachedPage } from './send-page.ts'

/** The request of a signed-in user. */
export type OwnRequest = PageRequest & { viewer: Viewer; account: AccountRow }

type Method = 'GET' | 'POST'
type Handler<Request> = (request: Request) => Promise<FastifyReply>

export type PageOptions = Pick<FastifyContextConfig, 'whenReadOnly' | 'budget' | 'cost' | 'tokenless'> & {
  /** Only for `own`: users without this role get 404. Admins have the role of moderators. */
  role?: 'moderator' | 'admin'
  /** `html`: the route serves only clients that prefer HTML. The API has a route with the same path. */
  prefers?: 'html'
  /** Only for `own`: the response to visitors without a session. Default: the sign-in page. */
  whenSignedOut?: (request: PageRequest) => Promise<FastifyReply>
  /**
   * Caches the page for visitors without a session. `entities`: the page only depends on entities that it reads through
   * `deps.cache`, or on data whose changes are announced as changes of these entities. `results`: the handler calls
   * `showResults`.
   */
  dependsOn?: 'entities' | 'results'
}

export type Pages = {
  /** Registers a page for everyone. `name` is its operation ID. */
  open(
    method: Method,
    path: string,
    name: string,
    handler: Handler<PageRequest>,
    options?: Omit<PageOptions, 'role' | 'whenSignedOut'>,
  ): void
  /** Registers a page for signed-in users. Other visitors are led to the sign-in page, and a GET leads them back. */
  own(method: Method, path: string, name: string, handler: Handler<OwnRequest>, options?: PageOptions): void
}

/** Opens a scope for the pages of an area. `addPages` registers them. */
export function registerArea(app: App, web: WebDeps, area: Area, addPages: (pages: Pages, scope: App) => void): void {
  openScope(app, async (scope) => {
    await registerFormParsers(scope, area.forms ?? SMALL_FORMS)
    await protectPages(scope, web.deps.config)
    scope.setErrorHandler((thrown: Error, req, reply) => showError(web, { area, thrown, req, reply }))
    const paths: Paths = { GET: new Set(), POST: new Map() }
    const open: Pages['open'] = (method, path, name, handler, { prefers, dependsOn, ...config } = {}) => {
      if (method === 'GET') paths.GET.add(path)
      else paths.POST.set(path, name)
      web.pageRoutes.add(method, path, { onlyHtml: prefers === 'html' })
      const route = { url: path, operation: name, config: { auth: 'public', budget: 'page', ...config } } as const
      scope.route({
        method,
        url: path,
        ...(prefers === undefined ? {} : { constraints: { prefers } }),
        config: route.config,
        schema: { operationId: name, hide: true },
        handler: (req, reply) => {
          const key = dependsOn === undefined ? undefined : web.pageCache.keyOf(req)
          if (key === undefined) return readRequest(web, req, reply, { area }).then(handler)
          const cached = dependsOn === 'entities' ? web.pageCache.find(key) : undefined
          // Without a promise, a cached page is sent faster.
          if (cached !== undefined) return void sendCachedPage(req, reply, cached)
          return web.pageCache.record({ key, route }, async (cache, recorder) => {
            const recording = { ...web, deps: { ...web.deps, cache } }
            return handler(await readRequest(recording, req, reply, { area, recorder }))
          })
        },
      })
    }
    addPages(
      {
        open,
        own: (method, path, name, handler, { role, whenSignedOut, ...options } = {}) =>
          open(
            method,
            path,
            name,
            forUser(role === undefined ? handler : forRole(role, handler), whenSignedOut),
            options,
          ),
      },
      scope,
    )
    redirectFromForms(open, paths)
  })
}

/** Leads visitors to the sign-in page. A POST cannot be repeated, so that it does not lead back. */
function forUser(
  handler: Handler<OwnRequest>,
  whenSignedOut: Handler<PageRequest> = async ({ req, redirect, toSignIn, page }) =>
    req.method === 'POST' ? redirect(page.site.paths.signIn) : toSignIn(),
): Handler<PageRequest> {
  return async (request) => {
    const { viewer, deps } = request
    const account = viewer === null ? undefined : await findAccount(deps.db, viewer.id)
    if (viewer !== null && account !== undefined) return handler({ ...request, viewer, account })
    return whenSignedOut(request)
  }
}

/** Answers users without the role as if the page did not exist. */
function forRole(role: 'moderator' | 'admin', handler: Handler<OwnRequest>): Handler<OwnRequest> {
  const hasRole = role === 'admin' ? isAdmin : isModerator
  return async (request) => {
    if (!hasRole(request.viewer)) throw notFound('page')
    return handler(request)
  }
}

type Paths = { GET: Set<string>; POST: Map<string, string> }

/** Leads a GET of a path that only accepts a form to the page above it: browsers load the URL of a form's response again. */
function redirectFromForms(open: Pages['open'], { GET, POST: forms }: Paths): void {
  const pages = new Set(GET)
  for (const [path, name] of forms) {
    let above = path
    while (above !== '' && !pages.has(above)) above = above.slice(0, above.lastIndexOf('/'))
    if (above === path || above === '') continue
    const depth = above.split('/').length
    open('GET', path, `${name}Back`, async ({ req, redirect }) => {
      // A request line can contain a whole URL, with any host.
      const { pathname } = new URL(req.raw.url ?? '', 'http://local')
      return redirect(pathname.split('/').slice(0, depth).join('/'))
    })
  }
}
