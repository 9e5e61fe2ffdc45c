// Links an account with an account at the code host.

import { requireViewer } from '#features/basics/authentication/access-control.ts'
import { mountInternal } from '#platform/http/mounts.ts'
import type { App } from '#platform/http/server.ts'
import type { AccountDeps } from '../account-deps.ts'
import { CodeHostLink } from '../requests.ts'
import { linkCodeHost, unlinkCodeHost } from './link-code-host.ts'

const config = { auth: { scope: ['SESSION_ACCESS'] } } as const
/** Time of the deprecation of these tokens, 1 November 2026, in the format of RFC 9745. */
const DEPRECATION = '@1793491200'

/** Adds `Deprecation` to every response to a token of the code host. Call it on the root server, for all routes. */
export function markCodeHostTokens(app: App): void {
  // Not async: the hook runs for every response, and a promise would cost 5 % of a cached read.
  app.addHook('onSend', (req, reply, _payload, done) => {
    if (req.viewer?.token.kind === 'code-host') void reply.header('deprecation', DEPRECATION)
    done()
  })
}

export function codeHostRoutes(app: App, deps: AccountDeps): void {
  mountInternal(app, (scope) => linkRoutes(scope, deps))
}

function linkRoutes(app: App, deps: AccountDeps): void {
  app.post('/auth/code-host', {
    config: {
      ...config,
      errors: ['401 invalid_credentials', '404 not_found', '424 auth_error'],
      withoutPage: 'For tools with a token of the code host; deprecated in favour of access tokens',
    },
    schema: {
      operationId: 'linkCodeHost',
      summary: 'Link the account at the code host that owns a token',
      description:
        'Requires a confirmed password. Depot then accepts personal tokens of the linked account as credentials. Deprecated: use access tokens.',
      body: CodeHostLink,
    },
    handler: async (req) => {
      const { token, ...proof } = req.body
      await linkCodeHost(deps, requireViewer(req), { token, proof })
    },
  })
  app.delete('/auth/code-host', {
    config: {
      ...config,
      withoutPage: 'For tools with a token of the code host; deprecated in favour of access tokens',
    },
    schema: { operationId: 'unlinkCodeHost', summary: 'Remove the link to the code host' },
    handler: (req): Promise<void> => unlinkCodeHost(deps, requireViewer(req)),
  })
}
