// How a page is written: it is registered with its path and a function that gets the request for it, which holds who
// asks, what the form says, and how to answer.

import type { FastifyContextConfig, FastifyReply, FastifyRequest } from 'fastify'
import type { AccountDeps } from '#features/people/accounts/account-deps.ts'
import { findAccount } from '#features/people/accounts/queries.ts'
import type { AccountRow } from '#features/people/users/queries.ts'
import { parseToken } from '#lib/access/tokens.ts'
import type { Viewer } from '#lib/access/viewer.ts'
import type { ApiError } from '#lib/errors.ts'
import type { FormError } from '#platform/html/forms.ts'
import type { Markup } from '#platform/html/html.ts'
import type { MessageKey } from '#platform/html/languages.ts'
import { layout } from '#platform/html/layout.ts'
import { type PageContext, pathTo } from '#platform/html/page-context.ts'
import type { TokenDirectory } from '#platform/http/auth/token-directory.ts'
import { asApiError } from '#platform/http/error-handler.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { accountLayout } from '#web/account/account-layout.ts'
import { type CaptchaState, captchaState } from '#web/account/sign-in/captcha.ts'
import { errorView } from './error-view.ts'
import { fieldOf, fieldsOf } from './forms.ts'
import { PATHS } from './paths.ts'
import { readPreferences } from './preferences.ts'
import { staleFormError } from './safety.ts'
import type { SessionCookie } from './session-cookie.ts'
import { currentSite, type ServedSite } from './site.ts'

export type PageDeps = {
  deps: Deps
  accounts: AccountDeps
  tokens: TokenDirectory
  cookie: SessionCookie
  site: ServedSite
}

/** What a form shows of a refusal: the sentence, the field it is about, and the status of the answer. */
export type FormRefusal = FormError & { status: number }

export type ShownPage = {
  title: string
  body: Markup
  refusal?: FormRefusal | undefined
  /** The form is one that the API wants a captcha for, where one is configured. */
  asksCaptcha?: boolean
  /** A path that the browser goes to by itself. */
  refresh?: string
}

export type PageRequest = {
  req: FastifyRequest
  reply: FastifyReply
  viewer: Viewer | null
  /** What views are drawn with. */
  page: PageContext
  captcha: CaptchaState
  /** The first value of a query key; empty when it is absent. */
  query(name: string): string
  /** The one value of a form's field; empty when it is absent. */
  field(name: string): string
  fields(name: string): string[]
  /** Answers with a page in the frame of the site. */
  show(page: ShownPage): FastifyReply
  /** Answers a form by sending the browser to another page of ours, which may say that it is done. */
  redirect(path: string, done?: Done): FastifyReply
}

/** The request of somebody who is signed in. */
export type AccountPageRequest = PageRequest & {
  viewer: Viewer
  account: AccountRow
  /** The same among the settings, under their tabs. */
  showSettings(page: ShownPage): FastifyReply
}

type Answer<Request> = (request: Request) => Promise<FastifyReply>

/** As of routes: what becomes of a page in read-only mode, where its method does not say it. */
type PageOptions = Pick<FastifyContextConfig, 'whenReadOnly'>

export type Pages = {
  /** A page for anybody. */
  open(method: 'GET' | 'POST', path: string, name: string, answer: Answer<PageRequest>, options?: PageOptions): void
  /** A page for those who are signed in; others are sent through that and back. */
  own(
    method: 'GET' | 'POST',
    path: string,
    name: string,
    answer: Answer<AccountPageRequest>,
    options?: PageOptions,
  ): void
  /** To be called when all are registered: see `formsWithoutPage`. */
  finish(): void
}

export function createPages(app: App, given: PageDeps): Pages {
  const paths = { GET: new Set<string>(), POST: new Set<string>() }
  const register: Pages['open'] = (method, path, name, answer, options = {}) => {
    paths[method].add(path)
    app.route({
      method,
      url: path,
      config: { auth: 'public', budget: 'page', ...options },
      schema: { operationId: name, hide: true },
      handler: async (req, reply) => answer(await readRequest(given, req, reply)),
    })
  }
  app.setErrorHandler((thrown: Error, req, reply) => showError(given, { thrown, req, reply }))
  return {
    open: register,
    own: (method, path, name, answer, options) => {
      const forOwner: Answer<PageRequest> = async (request) => {
        const account = request.viewer === null ? undefined : await findAccount(given.deps.db, request.viewer.id)
        if (request.viewer === null || account === undefined) return redirectToSignIn(request, method === 'GET')
        return answer(withAccount(given, { ...request, viewer: request.viewer }, account))
      }
      register(method, path, name, forOwner, options)
    },
    finish: () => {
      for (const [path, page] of formsWithoutPage(paths))
        register('GET', path, 'leadFormBack', async ({ req, redirect }) => redirect(sameDepth(req.raw.url ?? '', page)))
    },
  }
}

/**
 * The addresses that only take forms, each with the page above it. What a form answered stands under such an address,
 * and a browser that loads it again without sending the form is sent to the page.
 */
function formsWithoutPage({
  GET: pages,
  POST: forms,
}: Record<'GET' | 'POST', ReadonlySet<string>>): [string, string][] {
  return [...forms.difference(pages)].map((path) => {
    let page = path
    while (!pages.has(page)) page = page.slice(0, page.lastIndexOf('/'))
    return [path, page]
  })
}

/** As much of an address as the pattern of a page above it covers. */
function sameDepth(url: string, page: string): string {
  return (url.split('?')[0] ?? '').split('/').slice(0, page.split('/').length).join('/')
}

async function readRequest(given: PageDeps, req: FastifyRequest, reply: FastifyReply): Promise<PageRequest> {
  const values = req.query as Record<string, unknown>
  req.viewer = await viewerOf(given, req)
  const page = await pageContext(given, req, reply)
  const query = (name: string) => fieldsOf(values, name)[0] ?? ''
  return {
    req,
    reply,
    viewer: req.viewer,
    page,
    captcha: captchaState(given.deps.config),
    query,
    field: (name) => fieldOf(req.body, name),
    fields: (name) => fieldsOf(req.body, name),
    show: (shown) => sendPage(given, reply, page, shown),
    redirect: (path, done) => reply.redirect(pathTo(page, `${path}${done === undefined ? '' : `?done=${done}`}`), 303),
  }
}

function withAccount(
  given: PageDeps,
  request: PageRequest & { viewer: Viewer },
  account: AccountRow,
): AccountPageRequest {
  const page = { ...request.page, account }
  const isUnverified = given.deps.config.accounts.requireVerifiedEmail && !account.email_verified
  const show = (shown: ShownPage) => sendPage(given, request.reply, page, shown)
  return {
    ...request,
    account,
    page,
    show,
    showSettings: (shown) => {
      const notice = noticeOf(request)
      return show({ ...shown, body: accountLayout(page, { ...shown, notice, isUnverified }) })
    },
  }
}

async function pageContext({ site, deps }: PageDeps, req: FastifyRequest, reply: FastifyReply): Promise<PageContext> {
  const current = await currentSite(deps, site)
  let token: string | undefined
  return {
    site: current,
    ...readPreferences(deps.config, req),
    address: req.raw.url ?? '',
    account: undefined,
    now: deps.now(),
    csrfToken: () => {
      token ??= reply.generateCsrf()
      return token
    },
  }
}

function sendPage(
  { deps }: PageDeps,
  reply: FastifyReply,
  page: PageContext,
  { title, body, refusal, asksCaptcha = false, refresh }: ShownPage,
): FastifyReply {
  const widget = asksCaptcha ? deps.config.accounts.captcha?.widget : undefined
  if (widget !== undefined) reply.widgetSources = widget.origins.join(' ')
  const document = layout(page, {
    title,
    body,
    isUnlisted: true,
    className: 'page account',
    hasErrors: refusal !== undefined,
    scripts: widget === undefined ? [] : [widget.scriptUrl],
    ...(refresh === undefined ? {} : { refresh }),
  })
  return reply
    .status(refusal?.status ?? 200)
    .type('text/html; charset=utf-8')
    .send(document)
}

/** A cookie holds a session and no other token. */
export async function viewerOf(
  { tokens, cookie }: Pick<PageDeps, 'tokens' | 'cookie'>,
  req: FastifyRequest,
): Promise<Viewer | null> {
  const text = cookie.read(req)
  if (text === undefined || parseToken(text)?.kind !== 'session') return null
  const viewer = await tokens.authenticate(text, req)
  return typeof viewer === 'object' ? viewer : null
}

function redirectToSignIn({ req, redirect }: PageRequest, mayReturn: boolean): FastifyReply {
  const returnTo = mayReturn ? `?return=${encodeURIComponent(req.raw.url ?? '')}` : ''
  return redirect(`${PATHS.signIn}${returnTo}`)
}

/** What a page says after a form has led to it; the word is in the address, so it stands for nothing but a sentence. */
const DONE = [
  'profile',
  'picture',
  'picture-removed',
  'email',
  'email-sent',
  'email-restored',
  'link-sent',
  'password',
  'password-reset',
  'verified',
  'two-factor-off',
  'session-ended',
  'sessions-ended',
  'token-revoked',
  'application-saved',
  'application-deleted',
  'authorization-ended',
  'account-deleted',
  'signed-out',
] as const
export type Done = (typeof DONE)[number]

/** The sentence that the address asks for; undefined when it asks for none of ours. */
export function noticeOf({ query, page }: Pick<PageRequest, 'query' | 'page'>): string | undefined {
  const done = DONE.find((word) => word === query('done'))
  return done === undefined ? undefined : page.language.t(`done.${done}`)
}

/**
 * Runs what a form asks for; a refusal comes back as something to show. Errors of ours are thrown on.
 * `labels` says what the refusal calls the fields that it may be about.
 */
export async function attempt<T>(
  act: () => Promise<T>,
  labels: Readonly<Record<string, string>> = {},
): Promise<{ value: T; refusal?: never } | { refusal: FormRefusal; value?: never }> {
  try {
    return { value: await act() }
  } catch (thrown) {
    const error = asApiError(thrown)
    if (error.status >= 500) throw thrown
    return { refusal: toRefusal(error, labels) }
  }
}

/** Refusals are those of the API, in its language. */
function toRefusal(error: ApiError, labels: Readonly<Record<string, string>>): FormRefusal {
  const { field, message } = error.details ?? {}
  const { status } = error
  const name = typeof field === 'string' ? (field.split('.')[0] ?? field) : undefined
  const label = name === undefined ? undefined : labels[name]
  if (label === undefined || typeof message !== 'string')
    return { field: undefined, message: error.message, status, lang: 'en' }
  // Messages complete a sentence about the field, or are one.
  const sentence = /^[a-z]/.test(message) ? `${label} ${message}` : message
  return { field: name, message: `${sentence.replace(/\.$/, '')}.`, status, lang: 'en' }
}

type Failure = { thrown: Error; req: FastifyRequest; reply: FastifyReply }

const TITLES: Readonly<Record<number, MessageKey>> = {
  400: 'error.400',
  401: 'error.401',
  403: 'error.403',
  404: 'error.404',
  409: 'error.409',
  424: 'error.424',
  429: 'error.429',
}

/** Errors that no form shows: a page of their own, with no more in it than the API would say. */
async function showError(given: PageDeps, { thrown, req, reply }: Failure): Promise<void> {
  const error = staleFormError(thrown) ?? asApiError(thrown)
  const { status } = error
  if (status >= 500) given.deps.log.error({ request_id: req.id, err: error.cause ?? error }, error.message)
  for (const [name, value] of Object.entries(error.headers ?? {})) void reply.header(name, value)
  const page = await pageContext(given, req, reply)
  const title = page.language.t(TITLES[status] ?? 'error.other')
  const body = errorView(page, { title, message: error.message, requestId: status >= 500 ? req.id : undefined })
  const document = layout(page, { title, body, isUnlisted: true, className: 'page account' })
  await reply.header('cache-control', 'no-store').status(status).type('text/html; charset=utf-8').send(document)
}
