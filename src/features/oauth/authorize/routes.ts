// `authorize`, and the answer to what it asks. Programs of the person's own side call these with a session and get the
// address to go to as text with status 200, which scripts can read; browsers are led to the pages.
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { requireScope, requireViewer } from '#http/auth.ts'
import type { App } from '#http/server.ts'
import { SCOPES } from '#lib/scopes.ts'
import { URL_LENGTH_MAX } from '#lib/text-rules.ts'
import type { Deps } from '#main/deps.ts'
import { answerAuthorization, startAuthorization } from './authorize.ts'
import { AUTHORIZE_PAGE } from './authorize-page.ts'
import { type AuthorizeQuery, STATE_LENGTH_MAX } from './authorize-request.ts'

const AuthorizeQueryFields = Type.Object({
  client_id: Type.String({ maxLength: 64, description: 'The application' }),
  redirect_uri: Type.String({ maxLength: URL_LENGTH_MAX, description: 'One that the application has registered' }),
  scope: Type.Optional(
    Type.String({ maxLength: 4096, description: 'Names separated by spaces or `+`; absent means all it may ask' }),
  ),
  state: Type.Optional(
    Type.String({ maxLength: STATE_LENGTH_MAX, description: 'Comes back unchanged; only this browser should know it' }),
  ),
  response_type: Type.Optional(Type.Literal('code', { description: 'What comes back' })),
  code_challenge: Type.Optional(
    Type.String({
      maxLength: 43,
      description: 'PKCE (RFC 7636): the SHA-256 of the verifier; public clients must send it',
    }),
  ),
  code_challenge_method: Type.Optional(Type.Literal('S256', { description: 'How the challenge was made' })),
})

const Consent = Type.Object(
  {
    flow_id: Type.String({ description: 'For accept or reject, within 30 minutes' }),
    client_id: Type.String(),
    client_name: Type.String(),
    client_icon: Type.Union([Type.String(), Type.Null()]),
    requested_scopes: Type.Number(),
  },
  { title: 'OAuthConsent' },
)

const Address = Type.String({ description: 'Where to send the person; the same as the header `Location`' })

export function authorizeRoutes(app: App, deps: Deps): void {
  app.get(
    '/oauth/authorize',
    {
      // Any caller reaches the handler: browsers are led on, others need USER_AUTH_WRITE.
      config: { auth: { read: SCOPES.map(({ name }) => name) } },
      // What is wrong with the query is told by the rules of RFC 6749, 4.1.2.1.
      attachValidation: true,
      schema: {
        operationId: 'authorize',
        summary: 'Ask to act for the caller',
        description: 'Answers what to ask him, or, where that is settled, the address to go to as text.',
        querystring: AuthorizeQueryFields,
        response: { 200: Type.Union([Consent, Address]) },
      },
    },
    async (req, reply) => {
      if (isBrowser(req)) return reply.redirect(pageUrl(deps, req), 303)
      const viewer = requireViewer(req)
      requireScope(viewer, 'USER_AUTH_WRITE')
      const query = req.query as AuthorizeQuery
      const authorization = await startAuthorization(deps, { accountId: viewer.id, query })
      if (authorization.next === 'redirect') return sendAddress(reply, authorization.url)
      const { application, flow, scopes } = authorization
      return {
        flow_id: flow,
        client_id: application.id,
        client_name: application.name,
        client_icon: application.icon_url,
        requested_scopes: scopes,
      }
    },
  )
  answerRoute(app, deps, { name: 'accept', accept: true })
  answerRoute(app, deps, { name: 'reject', accept: false })
}

function answerRoute(app: App, deps: Deps, { name, accept }: { name: 'accept' | 'reject'; accept: boolean }): void {
  app.post(
    `/oauth/${name}`,
    {
      config: { auth: { scope: ['SESSION_ACCESS'] } },
      schema: {
        operationId: `${name}Authorization`,
        summary: accept ? 'Allows what an application asks' : 'Refuses what an application asks',
        body: Type.Object({ flow: Type.String({ maxLength: 128 }) }),
        response: { 200: Address },
      },
    },
    async (req, reply) => {
      const { id: accountId } = requireViewer(req)
      return sendAddress(reply, await answerAuthorization(deps, { accountId, flow: req.body.flow, accept }))
    },
  )
}

function sendAddress(reply: Pick<FastifyReply, 'header' | 'type'>, url: string): never {
  return reply.header('location', url).type('text/plain; charset=utf-8').send(url) as never
}

/** A person who follows a link: he sends no token, and wants a page. */
function isBrowser(req: FastifyRequest): boolean {
  return req.headers.authorization === undefined && /\btext\/html\b/i.test(req.headers.accept ?? '')
}

/** The page takes the same query, letter by letter. */
function pageUrl({ config }: Pick<Deps, 'config'>, req: FastifyRequest): string {
  const { url = '' } = req.raw
  const query = url.indexOf('?')
  return `${new URL(config.http.baseUrl).pathname.replace(/\/$/, '')}${AUTHORIZE_PAGE}${query < 0 ? '' : url.slice(query)}`
}
