// The consent of the caller to the Terms.
import { requireViewer } from '#features/basics/authentication/access-control.ts'
import type { App } from '#platform/http/server.ts'
import type { AccountDeps } from '../account-deps.ts'
import { agreeToTerms } from './agree-to-terms.ts'
import { owesConsent } from './consent-cache.ts'
import { listConsents } from './queries.ts'
import { NewConsent } from './requests.ts'
import { TermsConsentView } from './views.ts'

export function termsRoutes(app: App, deps: AccountDeps): void {
  const config = { auth: { scope: ['SESSION_ACCESS'] } } as const
  app.get('/auth/terms', {
    config,
    schema: {
      operationId: 'getTermsConsent',
      summary: 'Get the versions of the Terms that the caller agreed to',
      description: 'Requires a session.',
      response: { 200: TermsConsentView },
    },
    handler: async (req) => {
      const { id } = requireViewer(req)
      const consents = await listConsents(deps.db, id)
      return {
        is_asked: await owesConsent(deps, id),
        consents: consents.map(({ version, agreed }) => ({ version, agreed: agreed.toISOString() })),
      }
    },
  })
  app.post('/auth/terms', {
    config: { ...config, errors: ['404 not_found'] },
    schema: {
      operationId: 'agreeToTerms',
      summary: 'Agree to the Terms of this instance',
      description: 'Requires a session. Agreeing twice keeps the first time.',
      body: NewConsent,
    },
    handler: (req): Promise<void> => agreeToTerms(deps, requireViewer(req).id, req.body.version),
  })
}
