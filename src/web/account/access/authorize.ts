// Consent: who asks, for what, and what stays out of reach.

import type { FastifyReply } from 'fastify'
import type { Application } from '#features/people/oauth/applications/queries.ts'
import { answerAuthorization, getConsentRequest } from '#features/people/oauth/authorize/answer-authorization.ts'
import { startAuthorization } from '#features/people/oauth/authorize/start-authorization.ts'
import { getAccount } from '#features/people/users/queries.ts'
import { ApiError, invalidInput } from '#lib/errors.ts'
import type { AccountPageRequest, PageDeps, Pages } from '#web/kit/page-request.ts'
import { PATHS } from '#web/kit/paths.ts'
import { formTargetOf } from '#web/kit/safety.ts'
import { consentView } from './access-views.ts'
import { scopeGroups } from './scope-groups.ts'

type Question = { flow: string; application: Application; scopes: number; redirectUri: string }

export function authorizePages(pages: Pages, { deps }: PageDeps): void {
  pages.own(
    'GET',
    PATHS.authorize,
    'showConsent',
    async (request) => {
      const query = request.req.query as Record<string, unknown>
      const authorization = await startAuthorization(deps, { accountId: request.viewer.id, query })
      if (authorization.next === 'redirect') return request.reply.redirect(authorization.url, 303)
      return ask(request, authorization)
    },
    { whenReadOnly: 'refused' },
  )
  pages.own('POST', PATHS.authorize, 'sendConsent', async ({ viewer, reply, field }) => {
    const decision = field('decision')
    if (decision !== 'accept' && decision !== 'reject') throw invalidInput('Allow it or refuse it', 'decision')
    const flow = field('flow').slice(0, 128)
    const { redirect_uri: target } = await getConsentRequest(deps, { accountId: viewer.id, flow }).catch(whenAnswered)
    const url = await answerAuthorization(deps, viewer, { flow, accept: decision === 'accept' }).catch(whenAnswered)
    reply.formTarget = formTargetOf(target)
    return reply.redirect(url, 303)
  })

  async function ask(
    { req, reply, page, account, show }: AccountPageRequest,
    question: Question,
  ): Promise<FastifyReply> {
    const { flow, application, scopes, redirectUri } = question
    reply.formTarget = formTargetOf(redirectUri)
    const { username: maker } = await getAccount(deps.db, application.account_id)
    const { protocol, host } = new URL(redirectUri)
    const isWeb = protocol === 'https:' || protocol === 'http:'
    const body = consentView(page, {
      application,
      username: account.username,
      maker,
      flow,
      groups: scopeGroups(scopes),
      // What stands where a host does in the address of an installed program is a word of its maker's choice.
      target: isWeb ? host : protocol,
      returnTo: req.raw.url ?? '',
    })
    return show({ title: page.language.t('consent.page-title', { name: application.name }), body })
  }
}

/** For the person, who has sent the form twice or left it for long. */
function whenAnswered(error: unknown): never {
  if (!(error instanceof ApiError) || error.kind !== 'not_found') throw error
  const description = 'This question is answered already, or too old. Go back to the application and start there again.'
  throw new ApiError('not_found', description, { cause: error })
}
