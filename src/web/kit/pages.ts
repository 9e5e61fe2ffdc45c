// Registers pages: one scope for each area of the web site, and one function for each kind of page.

import type { FastifyContextConfig, FastifyReply } from 'fastify'
import { isAdmin, isModerator, refuseWithheldRole, type Viewer } from '#features/basics/access/viewer.ts'
import type { AccountRow } from '#features/people/users/queries.ts'
import { findAccount } from '#features/people/users/queries.ts'
import { notFound } from '#lib/errors.ts'
import { openScope } from '#platform/http/mounts.ts'
import type { App } from '#platform/http/server.ts'
import { showError } from './errors.ts'
import { registerFormParsers, SMALL_FORMS } from './forms/read-form.ts'
import type { Caching } from './page-cache.ts'
import { PATHS, withQuery } from './paths.ts'
import { type Area, type PageRequest, readRequest, type WebDeps } from './request.ts'
import { protectPages, requireToken } from './safety.ts'
import { sharedPages } from './shared-pages.ts'

/** The request of a signed-in user. */
export type OwnRequest = PageRequest & { viewer: Viewer; account: AccountRow }

type Method = 'GET' | 'POST'
type Handler<Request> = (request: Request) => Promise<FastifyReply>

/** The users who can open a page. Default: everyone. */
type Role = 'user' | 'moderator' | 'admin'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Only `npm run gen` and tests read it. */
    page?: Pick<PageOptions, 'shows' | 'api'> & { role: Role | undefined }
    /** Whether its forms work only for users who agreed to the newest Terms. Default: the value of the area */
    needsConsent?: boolean
  }
}

export type PageOptions = Pick<
  FastifyContextConfig,
  'whenReadOnly' | 'budget' | 'cost' | 'tokenless' | 'needsConsent'
> & {
  /** Content of the page, if its path does not say it: a noun phrase. `false`: a redirect or data instead of a page. */
  shows?: string | false | undefined
  /** The operations of the API whose data the page shows or whose commands its forms run, separated by spaces. */
  api?: string | undefined
  /** Only for `own`: users without this role get 404. Admins have the role of moderators. */
  role?: 'moderator' | 'admin'
  /** `html`: the route serves only clients that prefer HTML. The API has a route with the same path. */
  prefers?: 'html'
  /** The handler calls `requireToken`, after it has loaded what the viewer must be able to see. */
  checksToken?: true
  /** Only for `own`: the response to visitors without a session. Default: the sign-in page. */
  whenSignedOut?: (request: PageRequest) => Promise<FastifyReply>
}

/** Options of pages for everyone. */
export type OpenOptions = Omit<PageOptions, 'role' | 'whenSignedOut'> & {
  /** Caches the page. The handler must read all data through the `deps` of its request, and gets no viewer. */
  cached?: Caching
}

export type Pages = {
  /** Registers a page for everyone. `name` is its operation ID. */
  open(method: Method, path: string, name: string, handler: Handler<PageRequest>, options?: OpenOptions): void
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
    const register = (
      ...[method, path, name, handler, options = {}, role]: [...Parameters<Pages['open']>, role?: Role]
    ): void => {
      const { prefers, cached, shows, api, ...config } = options
      if (method === 'GET') paths.GET.add(path)
      else paths.POST.set(path, name)
      const onlyHtml = prefers === 'html'
      web.pageRoutes.add(method, path, { onlyHtml })
      if (cached !== undefined) web.pageCache.addPath(path, { onlyHtml })
      const route = {
        url: path,
        operation: name,
        config: {
          auth: 'public',
          budget: 'page',
          checksToken: true,
          page: { shows, api, role },
          needsConsent: area.needsConsent === true,
          ...config,
        },
      } as const
      scope.route({
        method,
        url: path,
        ...(prefers === undefined ? {} : { constraints: { prefers } }),
        config: route.config,
        schema: { operationId: name, hide: true },
        handler:
          cached === undefined
            ? (req, reply) => readRequest(web, req, reply, { area }).then(withConsent(handler))
            : sharedPages(web, { area, route, caching: cached }, handler),
      })
    }
    const open: Pages['open'] = (method, path, name, handler, { checksToken, ...options } = {}) =>
      register(method, path, name, checksToken === true ? handler : withToken(handler), options)
    addPages(
      {
        open,
        own: (method, path, name, handler, { role, whenSignedOut, checksToken, ...options } = {}) => {
          const checked = checksToken === true ? handler : withToken(handler)
          const forViewer = role === undefined ? checked : forRole(role, checked)
          register(method, path, name, forUser(forViewer, whenSignedOut), options, role ?? 'user')
        },
      },
      scope,
    )
    redirectFromForms(open, paths)
  })
}

/** Rejects a form without a valid token. */
function withToken<Request extends PageRequest>(handler: Handler<Request>): Handler<Request> {
  return async (request) => {
    requireToken(request.req)
    return handler(request)
  }
}

/**
 * Leads users who have not agreed to the newest Terms to their page instead of running a form. A form that reads its fields in
 * read-only mode, or works then, decides itself (`writeRefusal`).
 */
function withConsent(handler: Handler<PageRequest>): Handler<PageRequest> {
  return async (request) => {
    const { req, page, redirect, writeRefusal } = request
    const { whenReadOnly, tokenless } = req.routeOptions.config
    const isChecked = req.method === 'POST' && whenReadOnly === undefined && tokenless !== true
    if (isChecked && page.owesConsent === true && writeRefusal()?.kind === 'forbidden')
      return redirect(withQuery(PATHS.terms, { return: page.address }))
    return handler(request)
  }
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
    // A sign-out in another tab deletes the token. The browser says that the form is of this site.
    if (request.req.headers['sec-fetch-site'] !== 'same-origin') requireToken(request.req)
    return whenSignedOut(request)
  }
}

/** Answers users without the role as if the page did not exist. */
function forRole(role: 'moderator' | 'admin', handler: Handler<OwnRequest>): Handler<OwnRequest> {
  const hasRole = role === 'admin' ? isAdmin : isModerator
  return async (request) => {
    refuseWithheldRole(request.viewer, role)
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
    const back: Handler<PageRequest> = async ({ req, redirect }) => {
      // A request line can contain a whole URL, with any host.
      const { pathname } = new URL(req.raw.url ?? '', 'http://local')
      return redirect(pathname.split('/').slice(0, depth).join('/'))
    }
    open('GET', path, `${name}Back`, back, { shows: false })
  }
}
