// Linking an account with one at the code host.

import { requireViewer } from '#platform/http/auth/auth.ts'
import { mountInternal } from '#platform/http/mounts.ts'
import { done } from '#platform/http/responses/declared-responses.ts'
import type { App } from '#platform/http/server.ts'
import type { AccountDeps } from '../account-deps.ts'
import type { CodeHost } from './code-host.ts'
import { linkCodeHost, unlinkCodeHost } from './link-code-host.ts'
import { CodeHostLink } from './requests.ts'

const config = { auth: { scope: ['SESSION_ACCESS'] } } as const
/** When these tokens were deprecated, as RFC 9745 writes it: 1 November 2026. */
const DEPRECATION = '@1793491200'

/** Every answer to a token of the code host carries `Deprecation`. To be called on the server itself, for all routes. */
export function markCodeHostTokens(app: App): void {
  // Not async: it runs for every answer, and a promise there costs a twentieth of a warm read.
  app.addHook('onSend', (req, reply, _payload, done) => {
    if (req.viewer?.token.kind === 'code-host') void reply.header('deprecation', DEPRECATION)
    done()
  })
}

/** @param codeHost undefined where none is configured: then there is nothing to link with. */
export function codeHostRoutes(app: App, deps: AccountDeps, codeHost: CodeHost | undefined): void {
  mountInternal(app, (scope) => linkRoutes(scope, deps, codeHost))
}

function linkRoutes(app: App, deps: AccountDeps, codeHost: CodeHost | undefined): void {
  app.post(
    '/auth/code-host',
    {
      config,
      schema: {
        operationId: 'linkCodeHost',
        summary: 'Link the account at the code host to which a token belongs',
        description:
          'Personal tokens of the linked account are then accepted as credentials. Deprecated: use access tokens.',
        body: CodeHostLink,
      },
    },
    async (req, reply) => {
      await linkCodeHost(deps, codeHost, requireViewer(req), req.body.token)
      return done(reply)
    },
  )
  app.delete(
    '/auth/code-host',
    {
      config,
      schema: {
        operationId: 'unlinkCodeHost',
        summary: 'Remove the link to the code host',
      },
    },
    async (req, reply) => {
      await unlinkCodeHost(deps, requireViewer(req))
      return done(reply)
    },
  )
}
