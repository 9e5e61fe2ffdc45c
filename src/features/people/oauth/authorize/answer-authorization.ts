import { actorOf } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { scopeNames } from '#lib/access/scopes.ts'
import type { Viewer } from '#lib/access/viewer.ts'
import { ApiError, notFound } from '#lib/errors.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'
import { type Application, getApplication, lockApplication } from '../applications/queries.ts'
import { codeUrl, refusalUrl } from './answer-urls.ts'
import { requireRequestedAccount } from './policy.ts'
import { type ConsentRequest, deleteFlow, findFlow, insertCode, upsertAuthorization } from './queries.ts'

type AnswerDeps = Pick<Deps, 'db' | 'cache' | 'config' | 'now'>

/** What a person is asked to allow. @throws ApiError 404, also when another account was asked. */
export async function getConsentRequest(
  { db, now }: Pick<AnswerDeps, 'db' | 'now'>,
  { accountId, flow }: { accountId: string; flow: string },
): Promise<ConsentRequest & { application: Application }> {
  const consent = await findFlow(db, { secret: flow, now: now() })
  if (consent === undefined) throw notFound('flow')
  requireRequestedAccount(accountId, consent)
  return { ...consent, application: await getApplication(db, consent.client_id) }
}

type Answer = { flow: string; accept: boolean }

/**
 * Answers a request for consent, once, and returns the address that takes the answer to the application. Another
 * account's try leaves the request as it is.
 * @throws ApiError 404 for a request that is unknown, answered, too old or another account's
 */
export async function answerAuthorization(deps: AnswerDeps, viewer: Viewer, { flow, accept }: Answer): Promise<string> {
  const { now } = deps
  const { application: _, ...consent } = await getConsentRequest(deps, { accountId: viewer.id, flow })
  const code = await transaction(deps, async (tx) => {
    // Locked first, as by changes of an application, which end its requests.
    await lockForAnswer(tx, consent.client_id)
    if (!(await deleteFlow(tx, flow))) throw notFound('flow')
    if (!accept) return undefined
    const authorizationId = await upsertAuthorization(tx, consent, now())
    await recordAudit(tx, {
      action: 'oauth.authorized',
      actor: actorOf(viewer),
      subject: { kind: 'oauth_application', id: consent.client_id },
      details: { scopes: scopeNames(consent.scopes) },
    })
    return insertCode(tx, { authorizationId, consent, now: now() })
  })
  if (code !== undefined) return codeUrl(deps.config, consent, code)
  return refusalUrl(deps.config, {
    redirectUri: consent.redirect_uri,
    state: consent.state,
    error: 'access_denied',
    description: 'The request was refused',
  })
}

/** An application that is gone took its requests along. */
async function lockForAnswer(tx: Parameters<typeof lockApplication>[0], id: string): Promise<void> {
  await lockApplication(tx, id).catch((error: unknown) => {
    throw error instanceof ApiError && error.kind === 'not_found' ? notFound('flow') : error
  })
}
