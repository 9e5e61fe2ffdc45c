// The links of an account to other services. Only pages can add one, because the provider sends the user back to a page.
import { OwnerProofBody } from '#features/basics/access/requests.ts'
import { requireViewer } from '#features/basics/authentication/access-control.ts'
import { toView } from '#lib/schema/schema-parts.ts'
import { COSTS } from '#platform/http/route-config.ts'
import type { App } from '#platform/http/server.ts'
import type { AccountDeps } from '../account-deps.ts'
import { listProviderLinks } from './queries.ts'
import { ProviderParams } from './requests.ts'
import { unlinkProvider } from './unlink-provider.ts'
import { ProviderLinks, ProviderLinkView } from './views.ts'

export function providerRoutes(app: App, deps: AccountDeps): void {
  app.get('/auth/providers', {
    config: { auth: { scope: ['USER_AUTH_WRITE'] } },
    schema: {
      operationId: 'listSignInProviders',
      summary: "List the services that can sign in, and the caller's links to them",
      response: { 200: ProviderLinks },
    },
    handler: async (req) => ({
      available: [...deps.providers.values()].map(({ provider: { id, name } }) => ({ id, name })),
      links: (await listProviderLinks(deps.db, requireViewer(req).id)).map((row) => toView(ProviderLinkView, row)),
    }),
  })
  app.delete('/auth/providers/:provider', {
    config: { auth: { scope: ['USER_AUTH_WRITE'] }, cost: COSTS.password, errors: ['401 invalid_credentials'] },
    schema: {
      operationId: 'unlinkSignInProvider',
      summary: 'Remove the link to a service',
      description: 'The only way to sign in cannot be removed. Notifies the user by email.',
      params: ProviderParams,
      body: OwnerProofBody,
    },
    handler: (req): Promise<void> =>
      unlinkProvider(deps, { viewer: requireViewer(req), provider: req.params.provider, proof: req.body ?? {} }),
  })
}
