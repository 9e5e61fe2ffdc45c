// What follows from a question: the person is asked, or it is answered at once; and what follows from the answer.
import { transaction } from '#cache/transaction.ts'
import { isForeignKeyViolation } from '#db/pg-errors.ts'
import { ApiError, forbidden, notFound } from '#lib/errors.ts'
import { isScopeSubset } from '#lib/scopes.ts'
import type { Deps } from '#main/deps.ts'
import { type Application, getApplication, lockApplication } from '../applications/queries.ts'
import { withParameters } from '../applications/redirect-uri.ts'
import { type AuthorizeQuery, type RedirectFault, readAuthorizeRequest } from './authorize-request.ts'
import {
  deleteFlow,
  findAuthorization,
  findFlow,
  insertCode,
  insertFlow,
  type Question,
  toQuestion,
  upsertAuthorization,
} from './queries.ts'

type AuthorizeDeps = Pick<Deps, 'db' | 'cache' | 'config' | 'now'>

export type Authorization =
  | { next: 'redirect'; url: string }
  | { next: 'consent'; flow: string; application: Application; scopes: number; redirectUri: string }

/**
 * Starts an authorization. Who has allowed the application as much already is sent back at once, unless the
 * application has no secret: then another program may pose as it, and only the person can tell (RFC 8252, 8.6).
 * @throws ApiError as `readAuthorizeRequest`
 */
export async function startAuthorization(
  deps: AuthorizeDeps,
  { accountId, query }: { accountId: string; query: AuthorizeQuery },
): Promise<Authorization> {
  const { db, now } = deps
  const request = await readAuthorizeRequest(db, query)
  if ('error' in request) return { next: 'redirect', url: refusalUrl(deps, request) }
  const { application, scopes, redirectUri } = request
  const question = toQuestion(accountId, request)
  const allowed =
    application.secret_hash === null ? undefined : await findAuthorization(db, { clientId: application.id, accountId })
  const code =
    allowed === undefined || !isScopeSubset(scopes, allowed.scopes)
      ? undefined
      : await transaction(deps, (tx) => insertCode(tx, { authorizationId: allowed.id, question, now: now() })).catch(
          ifRevoked,
        )
  if (code !== undefined) return { next: 'redirect', url: codeUrl(deps, question, code) }
  const flow = await transaction(deps, (tx) => insertFlow(tx, question, now())).catch(ifGone)
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

/** What a person is asked, for the page that asks him. @throws ApiError 404, 403 when it was another who was asked */
export async function getQuestion(
  { db, now }: Pick<AuthorizeDeps, 'db' | 'now'>,
  { accountId, flow }: { accountId: string; flow: string },
): Promise<Question & { application: Application }> {
  const question = await findFlow(db, { secret: flow, now: now() })
  if (question === undefined) throw notFound('flow')
  if (question.account_id !== accountId) throw forbidden('This question was put to another account')
  return { ...question, application: await getApplication(db, question.client_id) }
}

type Answer = { accountId: string; flow: string; accept: boolean }

/**
 * Answers a question, once, and returns the address that tells the application. Somebody else's try leaves the
 * question as it is.
 * @throws ApiError 404 for a question that is unknown, answered or too old, 403 for another's
 */
export async function answerAuthorization(deps: AuthorizeDeps, { accountId, flow, accept }: Answer): Promise<string> {
  const { now } = deps
  const { application: _, ...question } = await getQuestion(deps, { accountId, flow })
  const code = await transaction(deps, async (tx) => {
    // Locked first, as those do who change an application and thereby end its questions.
    await lockForAnswer(tx, question.client_id)
    if (!(await deleteFlow(tx, flow))) throw notFound('flow')
    if (!accept) return undefined
    const authorizationId = await upsertAuthorization(tx, question, now())
    return insertCode(tx, { authorizationId, question, now: now() })
  })
  if (code !== undefined) return codeUrl(deps, question, code)
  return refusalUrl(deps, {
    redirectUri: question.redirect_uri,
    state: question.state,
    error: 'access_denied',
    description: 'The request was refused',
  })
}

/** An application that is gone took its questions along. */
async function lockForAnswer(tx: Parameters<typeof lockApplication>[0], id: string): Promise<void> {
  await lockApplication(tx, id).catch((error: unknown) => {
    throw error instanceof ApiError && error.fault === 'not_found' ? notFound('flow') : error
  })
}

/** `iss` tells the application which server answers (RFC 9207), so that it cannot be made to ask another. */
function codeUrl({ config }: AuthorizeDeps, { redirect_uri, state }: Question, code: string): string {
  return withParameters(redirect_uri, { code, state, iss: config.http.baseUrl })
}

function refusalUrl({ config }: AuthorizeDeps, { redirectUri, state, error, description }: RedirectFault): string {
  return withParameters(redirectUri, { error, error_description: description, state, iss: config.http.baseUrl })
}
