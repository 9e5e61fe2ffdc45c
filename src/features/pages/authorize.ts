// Consent: who asks, for what, and what he cannot do.
import type { FastifyReply } from 'fastify'
import { invalidInput } from '#lib/errors.ts'
import type { Application } from '../oauth/applications/queries.ts'
import { answerAuthorization, getQuestion, startAuthorization } from '../oauth/authorize/authorize.ts'
import { getAccount } from '../users/queries.ts'
import type { OwnVisit, PageDeps, Pages } from './page-kit.ts'
import { formTargetOf } from './page-safety.ts'
import { PATHS } from './paths.ts'
import { scopeGroups } from './scope-groups.ts'

type Question = { flow: string; application: Application; scopes: number; redirectUri: string }

export function authorizePages(pages: Pages, { deps }: PageDeps): void {
  pages.own('GET', PATHS.authorize, 'showConsent', async (visit) => {
    const query = visit.req.query as Record<string, unknown>
    const authorization = await startAuthorization(deps, { accountId: visit.viewer.id, query })
    if (authorization.next === 'redirect') return visit.reply.redirect(authorization.url, 303)
    return ask(visit, authorization)
  })
  pages.own('POST', PATHS.authorize, 'sendConsent', async ({ viewer, reply, field }) => {
    const decision = field('decision')
    if (decision !== 'accept' && decision !== 'reject') throw invalidInput('Allow it or refuse it', 'decision')
    const flow = field('flow').slice(0, 128)
    const { redirect_uri: target } = await getQuestion(deps, { accountId: viewer.id, flow })
    const url = await answerAuthorization(deps, { accountId: viewer.id, flow, accept: decision === 'accept' })
    reply.formTarget = formTargetOf(target)
    return reply.redirect(url, 303)
  })

  async function ask({ req, reply, show }: OwnVisit, question: Question): Promise<FastifyReply> {
    const { flow, application, scopes, redirectUri } = question
    reply.formTarget = formTargetOf(redirectUri)
    const { username: maker } = await getAccount(deps.db, application.account_id)
    const { protocol, host } = new URL(redirectUri)
    return show('consent', {
      title: `Allow ${application.name}?`,
      application,
      maker,
      flow,
      groups: scopeGroups(scopes),
      target: host === '' ? protocol : host,
      returnTo: req.raw.url ?? '',
    })
  }
}
