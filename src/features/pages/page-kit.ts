// How a page is written: it is registered with its path and a function that gets a visit, which holds who comes, what
// the form says, and how to answer.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AccountDeps } from '#features/accounts/account-deps.ts'
import { findAccount } from '#features/accounts/queries.ts'
import type { AccountRow } from '#features/users/queries.ts'
import { asApiError } from '#http/error-handler.ts'
import type { App } from '#http/server.ts'
import type { TokenDirectory } from '#http/token-directory.ts'
import type { ApiError } from '#lib/errors.ts'
import { parseToken } from '#lib/tokens.ts'
import type { Viewer } from '#lib/viewer.ts'
import type { Deps } from '#main/deps.ts'
import { fieldOf, fieldsOf } from './forms.ts'
import { staleFormFault } from './page-safety.ts'
import { PATHS } from './paths.ts'
import type { Render } from './render.ts'
import type { SessionCookie } from './session-cookie.ts'

export type PageDeps = {
  deps: Deps
  accounts: AccountDeps
  tokens: TokenDirectory
  cookie: SessionCookie
  render: Render
}

/** What a form shows of a refusal: the sentence, and the field it is about. */
export type FormFault = { field: string | undefined; message: string; status: number }

type Show = {
  title: string
  status?: number
  fault?: FormFault | undefined
  /** The form is one that the API wants a captcha for, where one is configured. */
  asksCaptcha?: boolean
} & Record<string, unknown>

export type Visit = {
  req: FastifyRequest
  reply: FastifyReply
  viewer: Viewer | null
  /** The first value of a query key; empty when it is absent. */
  query(name: string): string
  /** The one value of a form's field; empty when it is absent. */
  field(name: string): string
  fields(name: string): string[]
  /** Answers with a page. */
  show(template: string, data: Show): FastifyReply
  /** Answers a form by leading on to another page of ours, which may say that it is done. */
  lead(path: string, done?: string): FastifyReply
}

/** The visit of somebody who is signed in. */
export type OwnVisit = Visit & { viewer: Viewer; account: AccountRow }

export type Pages = {
  /** A page for anybody. */
  open(method: 'GET' | 'POST', path: string, name: string, act: (visit: Visit) => Promise<FastifyReply>): void
  /** A page for those who are signed in; others are led through that and back. */
  own(method: 'GET' | 'POST', path: string, name: string, act: (visit: OwnVisit) => Promise<FastifyReply>): void
  /** To be called when all are registered: see `leadFormsBack`. */
  finish(): void
}

export function createPages(app: App, kit: PageDeps): Pages {
  const paths = { GET: new Set<string>(), POST: new Set<string>() }
  const register = (
    method: 'GET' | 'POST',
    path: string,
    name: string,
    act: (visit: Visit) => Promise<FastifyReply>,
  ) => {
    paths[method].add(path)
    app.route({
      method,
      url: path,
      config: { auth: 'public' },
      schema: { operationId: name, hide: true },
      handler: async (req, reply) => act(await startVisit(kit, req, reply)),
    })
  }
  app.setErrorHandler((thrown: Error, req, reply) => showError(kit, { thrown, req, reply }))
  return {
    open: register,
    own: (method, path, name, act) =>
      register(method, path, name, async (visit) => {
        const account = visit.viewer === null ? undefined : await findAccount(kit.deps.db, visit.viewer.id)
        if (visit.viewer === null || account === undefined) return leadToSignIn(visit, method === 'GET')
        return act({ ...visit, viewer: visit.viewer, account, show: showTo(kit, visit, account) })
      }),
    finish: () => {
      for (const [path, page] of formsWithoutPage(paths))
        register('GET', path, 'leadFormBack', async ({ req, lead }) => lead(sameDepth(req.raw.url ?? '', page)))
    },
  }
}

/**
 * The addresses that only take forms, each with the page above it. What a form answered stands under such an address,
 * and who loads that anew without sending the form is led to the page.
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

async function startVisit(kit: PageDeps, req: FastifyRequest, reply: FastifyReply): Promise<Visit> {
  const query = req.query as Record<string, unknown>
  req.viewer = await viewerOf(kit, req)
  const visit = {
    req,
    reply,
    viewer: req.viewer,
    query: (name: string) => fieldsOf(query, name)[0] ?? '',
    field: (name: string) => fieldOf(req.body, name),
    fields: (name: string) => fieldsOf(req.body, name),
    lead: (path: string, done?: string) =>
      reply.redirect(`${basePath(kit)}${path}${done === undefined ? '' : `?done=${done}`}`, 303),
  }
  return { ...visit, show: showTo(kit, visit) }
}

/** A cookie holds a session and no other token. */
async function viewerOf({ tokens, cookie }: PageDeps, req: FastifyRequest): Promise<Viewer | null> {
  const text = cookie.read(req)
  if (text === undefined || parseToken(text)?.kind !== 'session') return null
  const viewer = await tokens.authenticate(text, req)
  return typeof viewer === 'object' ? viewer : null
}

function leadToSignIn({ req, lead }: Visit, mayReturn: boolean): FastifyReply {
  const returnTo = mayReturn ? `?return=${encodeURIComponent(req.raw.url ?? '')}` : ''
  return lead(`${PATHS.signIn}${returnTo}`)
}

function showTo(kit: PageDeps, { req, reply, query }: Pick<Visit, 'req' | 'reply' | 'query'>, account?: AccountRow) {
  return (template: string, { status = 200, asksCaptcha = false, ...data }: Show): FastifyReply => {
    const { requireVerifiedEmail, registration, captcha } = kit.deps.config.accounts
    const widget = asksCaptcha ? captcha?.widget : undefined
    if (widget !== undefined) reply.widgetSources = widget.origins.join(' ')
    const html = kit.render(template, {
      fault: undefined,
      ...data,
      base: basePath(kit),
      paths: PATHS,
      path: (req.raw.url ?? '').split('?')[0],
      csrf: reply.generateCsrf(),
      account,
      isUnverified: requireVerifiedEmail && account?.email_verified === false,
      isOpen: registration === 'open',
      widget,
      // A captcha is asked for that this page cannot show: whatever the form said would be refused.
      isBarred: asksCaptcha && captcha !== undefined && widget === undefined,
      notice: NOTICES[query('done')],
    })
    return reply.status(status).type('text/html; charset=utf-8').send(html)
  }
}

/** Path of the public address, for links: empty, or `/depot` where Depot is at https://example.org/depot. */
function basePath({ deps }: PageDeps): string {
  return new URL(deps.config.http.baseUrl).pathname.replace(/\/$/, '')
}

/** What a page says after a form has led to it; the word is in the address, so it stands for nothing but a sentence. */
const NOTICES: Readonly<Record<string, string>> = Object.assign(Object.create(null), {
  profile: 'Your profile is saved.',
  picture: 'The picture is changed.',
  'picture-removed': 'The picture is removed.',
  email: 'Your e-mail address is changed.',
  'email-sent': 'Your e-mail address is changed. Open the link in the message that is on its way.',
  'link-sent': 'The message is on its way.',
  password: 'Your password is changed. Other sessions have ended.',
  'password-reset': 'Your password is changed. Sign in with it.',
  verified: 'Your e-mail address is verified.',
  'two-factor-off': 'Two-factor sign-in is off.',
  'session-ended': 'The session has ended.',
  'sessions-ended': 'All other sessions have ended.',
  'token-revoked': 'The token is revoked.',
  'application-saved': 'The application is saved.',
  'application-deleted': 'The application is deleted.',
  'authorization-ended': 'The application can no longer act for you.',
  'account-deleted': 'Your account is deleted.',
  'signed-out': 'You are signed out.',
})

/**
 * Runs what a form asks for; a refusal comes back as something to show. Faults of ours are thrown on.
 * `labels` says what the form calls the fields that a fault may name.
 */
export async function attempt<T>(
  act: () => Promise<T>,
  labels: Readonly<Record<string, string>> = {},
): Promise<{ value: T; fault?: never } | { fault: FormFault; value?: never }> {
  try {
    return { value: await act() }
  } catch (thrown) {
    const error = asApiError(thrown)
    if (error.status >= 500) throw thrown
    return { fault: toFormFault(error, labels) }
  }
}

function toFormFault(error: ApiError, labels: Readonly<Record<string, string>>): FormFault {
  const { field, message } = error.details ?? {}
  const name = typeof field === 'string' ? (field.split('.')[0] ?? field) : undefined
  const label = name === undefined ? undefined : labels[name]
  if (label === undefined || typeof message !== 'string')
    return { field: undefined, message: error.message, status: error.status }
  // Messages complete a sentence about the field, or are one.
  const sentence = /^[a-z]/.test(message) ? `${label} ${message}` : message
  return { field: name, message: `${sentence.replace(/\.$/, '')}.`, status: error.status }
}

type Failure = { thrown: Error; req: FastifyRequest; reply: FastifyReply }

const TITLES: Readonly<Record<number, string>> = {
  400: 'That cannot be done',
  401: 'Please sign in',
  403: 'You may not do this',
  404: 'There is nothing here',
  409: 'That is taken',
  424: 'Another service does not answer',
  429: 'Too many requests',
}

/** Faults that no form shows: a page of their own, with no more in it than the API would say. */
function showError(kit: PageDeps, { thrown, req, reply }: Failure): void {
  const error = staleFormFault(thrown) ?? asApiError(thrown)
  if (error.status >= 500) kit.deps.log.error({ request_id: req.id, err: error.cause ?? error }, error.message)
  for (const [name, value] of Object.entries(error.headers ?? {})) void reply.header(name, value)
  const html = kit.render('error', {
    title: TITLES[error.status] ?? 'Something went wrong',
    description: error.message,
    requestId: error.status >= 500 ? req.id : undefined,
    base: basePath(kit),
    paths: PATHS,
    account: undefined,
    notice: undefined,
    fault: undefined,
    widget: undefined,
  })
  void reply.header('cache-control', 'no-store').status(error.status).type('text/html; charset=utf-8').send(html)
}
