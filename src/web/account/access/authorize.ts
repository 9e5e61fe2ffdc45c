// The consent page of OAuth: which application requests which permissions.

import type { FastifyReply } from 'fastify'
import type { Application } from '#features/people/oauth/applications/queries.ts'
import { answerAuthorization, getConsentRequest } from '#features/people/oauth/authorize/answer-authorization.ts'
import { startAuthorization } from '#features/people/oauth/authorize/start-authorization.ts'
import { getAccount } from '#features/people/users/queries.ts'
import { ApiError, invalidInput } from '#lib/errors.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS } from '#web/kit/paths.ts'
import { formTargetOf } from '#web/kit/safety.ts'
import { consentView } from './access-views.ts'
import { scopeGroups } from './scope-groups.ts'

type Consent = { flow: string; application: Application; scopes: number; redirectUri: string }

export function authorizePages(pages: Pages): void {
  pages.own(
    'GET',
    PATHS.authorize,
    'showConsent',
    async (request) => {
      const { deps } = request
      const query = request.req.query as Record<string, unknown>
      const authorization = await startAuthorization(deps, { accountId: request.viewer.id, query })
      if (authorization.next === 'redirect') return request.reply.redirect(authorization.url, 303)
      return showConsent(request, authorization)
    },
    { whenReadOnly: 'refused' },
  )
  pages.own('POST', PATHS.authorize, 'sendConsent', async ({ deps, viewer, reply, field }) => {
    const decision = field('decision')
    if (decision !== 'accept' && decision !== 'reject')
      throw invalidInput('The decision must be accept or reject', 'decision')
    const flow = field('flow').slice(0, 128)
    const { redirect_uri: target } = await getConsentRequest(deps, { accountId: viewer.id, flow }).catch(explainMissing)
    const url = await answerAuthorization(deps, viewer, { flow, accept: decision === 'accept' }).catch(explainMissing)
    reply.formTarget = formTargetOf(target)
    return reply.redirect(url, 303)
  })
}

async function showConsent(
  { deps, req, reply, page, account, show }: OwnRequest,
  { flow, application, scopes, redirectUri }: Consent,
): Promise<FastifyReply> {
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
    // In the URL of an installed program, the maker of the program chooses the text in place of the host.
    target: isWeb ? host : protocol,
    returnTo: req.raw.url ?? '',
  })
  return show({ title: page.language.t('consent.page-title', { name: application.name }), body })
}

/** Replaces the error of a user who sent the form twice or too late. */
function explainMissing(error: unknown): never {
  if (!(error instanceof ApiError) || error.kind !== 'not_found') throw error
  const description =
    'This authorization request was already answered or has expired. Go back to the application and start again.'
  throw new ApiError('not_found', description, { cause: error })
}
