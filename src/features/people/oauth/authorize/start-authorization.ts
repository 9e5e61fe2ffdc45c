import { isScopeSubset } from '#lib/access/scopes.ts'
import { ApiError, notFound } from '#lib/errors.ts'
import { transaction } from '#platform/cache/transaction.ts'
import { isForeignKeyViolation } from '#platform/db/pg-errors.ts'
import type { Deps } from '#ports/deps.ts'
import type { Application } from '../applications/queries.ts'
import { codeUrl, refusalUrl } from './answer-urls.ts'
import { findAuthorization, insertCode, insertFlow, toConsentRequest } from './queries.ts'
import { type AuthorizeQuery, readAuthorizeRequest } from './requests.ts'

/** What follows from a request: the person is sent back at once, or asked. */
export type Authorization =
  | { next: 'redirect'; url: string }
  | { next: 'consent'; flow: string; application: Application; scopes: number; redirectUri: string }

/**
 * Starts an authorization. A person who has allowed the application as much before is sent back at once, unless the
 * application has no secret: then another program may pose as it, and only the person can tell them apart
 * (RFC 8252, 8.6).
 * @throws ApiError as `readAuthorizeRequest`
 */
export async function startAuthorization(
  deps: Pick<Deps, 'db' | 'cache' | 'config' | 'now'>,
  { accountId, query }: { accountId: string; query: AuthorizeQuery },
): Promise<Authorization> {
  const { db, now } = deps
  const request = await readAuthorizeRequest(db, query)
  if ('error' in request) return { next: 'redirect', url: refusalUrl(deps.config, request) }
  const { application, scopes, redirectUri } = request
  const consent = toConsentRequest(accountId, request)
  const allowed =
    application.secret_hash === null ? undefined : await findAuthorization(db, { clientId: application.id, accountId })
  const code =
    allowed === undefined || !isScopeSubset(scopes, allowed.scopes)
      ? undefined
      : await transaction(deps, (tx) => insertCode(tx, { authorizationId: allowed.id, consent, now: now() })).catch(
          ifRevoked,
        )
  if (code !== undefined) return { next: 'redirect', url: codeUrl(deps.config, consent, code) }
  const flow = await transaction(deps, (tx) => insertFlow(tx, consent, now())).catch(ifGone)
  return { next: 'consent', flow, application, scopes, redirectUri }
}

/** The application, or the account, ended between looking at it and asking. */
function ifGone(error: unknown): never {
  if (isForeignKeyViolation(error, 'oauth_flow_client_id_fkey')) throw notFound('application')
  if (isForeignKeyViolation(error)) throw new ApiError('unauthorized', 'The account does not exist any more')
  throw error
}

/** The authorization ended between looking at it and using it. */
function ifRevoked(error: unknown): undefined {
  if (isForeignKeyViolation(error)) return undefined
  throw error
}
