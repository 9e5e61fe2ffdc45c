import { isScopeSubset } from '#features/basics/access/scopes.ts'
import { ApiError, notFound } from '#lib/errors.ts'
import { transaction } from '#platform/cache/transaction.ts'
import { isForeignKeyViolation } from '#platform/db/pg-errors.ts'
import type { Deps } from '#ports/deps.ts'
import type { Application } from '../applications/queries.ts'
import { codeUrl, errorUrl } from './answer-authorization.ts'
import { findAuthorization, insertCode, insertFlow, lockParties } from './queries.ts'
import { type AuthorizeQuery, readAuthorizeRequest } from './requests.ts'

/** The next step of a request: a redirect to the application, or a request for the user's consent. */
export type Authorization =
  | { next: 'redirect'; url: string }
  | { next: 'consent'; flow: string; application: Application; scopes: number; redirectUri: string }

/**
 * Starts an authorization. If the user has already granted the scopes, no consent is needed, except for applications
 * without a secret: another program can impersonate these, and only the user can notice it (RFC 8252, 8.6).
 * @throws ApiError like `readAuthorizeRequest`
 */
export async function startAuthorization(
  deps: Pick<Deps, 'db' | 'cache' | 'config' | 'now'>,
  { accountId, query }: { accountId: string; query: AuthorizeQuery },
): Promise<Authorization> {
  const { db, now } = deps
  const request = await readAuthorizeRequest(db, query)
  if ('error' in request) return { next: 'redirect', url: errorUrl(deps.config, request) }
  const { application, ...asked } = request
  const consent = { ...asked, client_id: application.id, account_id: accountId }
  const { scopes, redirect_uri: redirectUri } = consent
  const authorization =
    application.secret_hash === null ? undefined : await findAuthorization(db, { clientId: application.id, accountId })
  if (authorization !== undefined && isScopeSubset(scopes, authorization.scopes)) {
    const { id: authorizationId } = authorization
    const code = await transaction(deps, async (tx) => {
      await lockParties(tx, consent)
      return insertCode(tx, { authorizationId, consent, now: now() })
    }).catch(undefinedIfRevoked)
    if (code !== undefined) return { next: 'redirect', url: codeUrl(deps.config, consent, code) }
  }
  const flow = await transaction(deps, async (tx) => {
    await lockParties(tx, consent)
    return insertFlow(tx, consent, now())
  }).catch(throwDeleted)
  return { next: 'consent', flow, application, scopes, redirectUri }
}

/** Handles the deletion of the application or account during the request. */
function throwDeleted(error: unknown): never {
  if (isForeignKeyViolation(error, 'oauth_flow_client_id_fkey')) throw notFound('application')
  if (isForeignKeyViolation(error)) throw new ApiError('unauthorized', 'The account was deleted')
  throw error
}

/** Handles the revocation of the authorization during the request. */
function undefinedIfRevoked(error: unknown): undefined {
  if (isForeignKeyViolation(error)) return undefined
  throw error
}
