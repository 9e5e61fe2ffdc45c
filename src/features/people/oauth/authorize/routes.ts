// Starts and answers authorization requests. Clients call these routes with the user's session and get the next URL as
// text with status 200, because scripts cannot read redirects. Browsers are redirected to the page.
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { SCOPES } from '#features/basics/access/scopes.ts'
import { requireScope, requireViewer } from '#features/basics/authentication/access-control.ts'
import { sendRaw } from '#platform/http/responses/declared-responses.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { answerAuthorization } from './answer-authorization.ts'
import { AUTHORIZE_PAGE, type AuthorizeQuery, AuthorizeQueryFields, ConsentAnswer } from './requests.ts'
import { startAuthorization } from './start-authorization.ts'
import { Consent, NextUrl, toConsent } from './views.ts'

export function authorizeRoutes(app: App, deps: Deps): void {
  app.get('/oauth/authorize', {
    // Every caller reaches the handler: it redirects browsers and requires USER_AUTH_WRITE of others.
    config: {
      auth: { read: SCOPES.map(({ name }) => name) },
      whenReadOnly: 'refused',
      errors: ['303', '400 decoding_error', '404 not_found'],
    },
    // The handler reports errors of the query according to RFC 6749, 4.1.2.1.
    attachValidation: true,
    schema: {
      operationId: 'authorize',
      summary: 'Start an authorization request',
      description:
        'Returns the consent request or, if the user has already granted these scopes, the next URL as text.',
      querystring: AuthorizeQueryFields,
      response: { 200: Type.Union([Consent, NextUrl]) },
    },
    handler: async (req, reply) => {
      if (isBrowser(req)) return reply.redirect(pageUrl(deps, req), 303)
      const viewer = requireViewer(req)
      requireScope(viewer, 'USER_AUTH_WRITE')
      const query = req.query as AuthorizeQuery
      const authorization = await startAuthorization(deps, { accountId: viewer.id, query })
      if (authorization.next === 'redirect') return sendUrl(reply, authorization.url)
      return toConsent(deps.config, authorization)
    },
  })
  answerRoute(app, deps, { name: 'accept', accept: true })
  answerRoute(app, deps, { name: 'reject', accept: false })
}

function answerRoute(app: App, deps: Deps, { name, accept }: { name: 'accept' | 'reject'; accept: boolean }): void {
  app.post(`/oauth/${name}`, {
    config: { auth: { scope: ['SESSION_ACCESS'] }, errors: ['404 not_found'] },
    schema: {
      operationId: `${name}Authorization`,
      summary: accept ? 'Grant an authorization request' : 'Deny an authorization request',
      body: ConsentAnswer,
      response: { 200: NextUrl },
    },
    handler: async (req, reply) => {
      return sendUrl(reply, await answerAuthorization(deps, requireViewer(req), { flow: req.body.flow, accept }))
    },
  })
}

function sendUrl(reply: Pick<FastifyReply, 'header' | 'type'>, url: string): never {
  return sendRaw(reply.header('location', url).type('text/plain; charset=utf-8'), url)
}

/** Returns whether a browser follows a link: it sends no token and accepts HTML. */
function isBrowser(req: FastifyRequest): boolean {
  return req.headers.authorization === undefined && /\btext\/html\b/i.test(req.headers.accept ?? '')
}

/** Returns the URL of the page with the unchanged query. */
function pageUrl({ config }: Pick<Deps, 'config'>, req: FastifyRequest): string {
  const { url = '' } = req.raw
  const query = url.indexOf('?')
  return `${new URL(config.http.baseUrl).pathname.replace(/\/$/, '')}${AUTHORIZE_PAGE}${query < 0 ? '' : url.slice(query)}`
}
