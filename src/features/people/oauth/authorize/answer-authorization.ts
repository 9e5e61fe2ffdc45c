import { scopeNames } from '#features/basics/access/scopes.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { actorOf } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { notFound } from '#lib/errors.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'
import { type Application, getApplication, lockApplication } from '../applications/queries.ts'
import { withParameters } from '../applications/redirect-uri.ts'
import { type ConsentRequest, deleteFlow, findFlow, insertCode, upsertAuthorization } from './queries.ts'
import type { RedirectError } from './requests.ts'

type AnswerDeps = Pick<Deps, 'db' | 'cache' | 'config' | 'now'>

/** Returns a pending consent request with its application. @throws ApiError 404 also if it is for another account. */
export async function getConsentRequest(
  { db, now }: Pick<AnswerDeps, 'db' | 'now'>,
  { accountId, flow }: { accountId: string; flow: string },
): Promise<ConsentRequest & { application: Application }> {
  const consent = await findFlow(db, flow, now())
  if (consent?.account_id !== accountId) throw notFound('flow')
  return { ...consent, application: await getApplication(db, consent.client_id) }
}

type Answer = { flow: string; accept: boolean }

/**
 * Accepts or denies a consent request, once, and returns the URL that takes the answer to the application.
 * @throws ApiError 404 if the request is unknown, already answered, expired or for another account
 */
export async function answerAuthorization(deps: AnswerDeps, viewer: Viewer, { flow, accept }: Answer): Promise<string> {
  const { now } = deps
  const { application: _, ...consent } = await getConsentRequest(deps, { accountId: viewer.id, flow })
  const code = await transaction(deps, async (tx) => {
    // Locks the application first, like changes of an application, which delete its requests.
    await lockApplication(tx, consent.client_id)
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
  return errorUrl(deps.config, { ...consent, error: 'access_denied', description: 'The user denied the request' })
}

/** Returns the URL that takes a code to the application. `iss` prevents mix-ups with another server (RFC 9207). */
export function codeUrl(config: Deps['config'], { redirect_uri, state }: ConsentRequest, code: string): string {
  return withParameters(redirect_uri, { code, state, iss: config.http.baseUrl })
}

/** Returns the URL that takes an error to the application. */
export function errorUrl(config: Deps['config'], { redirect_uri, state, error, description }: RedirectError): string {
  return withParameters(redirect_uri, { error, error_description: description, state, iss: config.http.baseUrl })
}
