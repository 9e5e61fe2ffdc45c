// The callback of a provider: signs in, links the account, confirms its owner, or continues with a sign-up.
import { hasSecondFactor, lockAccount, lockAnyAccount } from '#features/basics/access/accounts.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { actorOf } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { secretsEqual } from '#lib/access/tokens.ts'
import { invalidInput, notFound } from '#lib/errors.ts'
import { transaction } from '#platform/cache/transaction.ts'
import { enqueue } from '#platform/jobs/queue.ts'
import type { AccountDeps } from '../account-deps.ts'
import { confirmOwner } from '../credentials/confirm-owner.ts'
import { requireUndoing } from '../deletion/restore-account.ts'
import { insertFlow, takeFlow } from '../mail/flows.ts'
import { requireActive } from '../policy.ts'
import { type Client, markConfirmed } from '../sessions/queries.ts'
import { finish, openSession, type SignedIn } from '../sign-in/sign-in.ts'
import { invalidCredentials } from '../sign-in/sign-in-guard.ts'
import { newChecks, type ProviderClient, type ProviderIdentity } from './provider-client.ts'
import { findLinkedAccount, insertProviderLink } from './queries.ts'

/** `confirm`: a user without a password proves that they own the session. */
export type ProviderPurpose = 'sign-in' | 'link' | 'confirm'

const EXPIRED = 'The sign-in has expired, or was started in another browser. Start it again.'

/** @throws ApiError 404 for a provider that is not configured */
export function getProvider({ providers }: Pick<AccountDeps, 'providers'>, id: string): ProviderClient {
  const client = providers.get(id)
  if (client === undefined) throw notFound('sign-in provider')
  return client
}

/**
 * Starts a sign-in. Returns the page of the provider, and the secret that the browser keeps until the callback.
 * @throws ApiError 404, 424, and for a link like `confirmOwner`: the session must be confirmed
 */
export async function startProvider(
  deps: AccountDeps,
  of: { id: string; purpose: ProviderPurpose; viewer: Viewer | null; returnTo: string; undoDeletion?: boolean },
): Promise<{ url: string; state: string; name: string }> {
  const { id, purpose, viewer, returnTo, undoDeletion = false } = of
  const client = getProvider(deps, id)
  if (purpose === 'link' && viewer !== null) await confirmOwner(deps, viewer, {})
  const checks = await newChecks()
  const data = { provider: id, purpose, return: returnTo.slice(0, 2_000), undo: undoDeletion, ...checks }
  const accountId = purpose === 'sign-in' ? null : (viewer?.id ?? null)
  const state = await insertFlow(deps.db, { kind: 'provider_sign_in', accountId, data, now: deps.now() })
  const url = await client.start({ state, isFresh: purpose === 'confirm', ...checks })
  return { url, state, name: client.provider.name }
}

type Answered = { returnTo: string } & (
  | { next: 'signed-in'; result: SignedIn }
  | { next: 'code'; flow: string }
  | { next: 'sign-up'; flow: string }
  | { next: 'linked' }
  | { next: 'confirmed' }
)

/**
 * Completes a sign-in at a provider. Only a link decides the account: an email address never does.
 * @throws ApiError `invalid_credentials`, `conflict` if the link belongs to another account, 403 for a suspended account, 424
 */
export async function answerProvider(
  deps: AccountDeps,
  of: { id: string; url: string; state: string; cookie: string; viewer: Viewer | null; client: Client },
): Promise<Answered> {
  const { id, url, state, cookie, viewer, client } = of
  const now = deps.now()
  if (!secretsEqual(state, cookie)) throw invalidInput(EXPIRED)
  const flow = await takeFlow(deps.db, 'provider_sign_in', { secret: state, now })
  if (flow === undefined || flow.data['provider'] !== id) throw invalidInput(EXPIRED)
  const { purpose, nonce, verifier, return: returnTo } = flow.data as Record<string, string>
  const checks = { nonce: String(nonce), verifier: String(verifier) }
  const identity = await getProvider(deps, id).finish({ url, state, ...checks })
  const answered = { returnTo: String(returnTo) }
  if (purpose === 'sign-in')
    return { ...answered, ...(await signIn(deps, { id, identity, client, undo: flow.data['undo'] === true })) }
  if (viewer === null || viewer.id !== flow.account_id) throw invalidInput(EXPIRED)
  if (purpose === 'link') {
    await link(deps, viewer, { id, identity })
    return { ...answered, next: 'linked' }
  }
  await confirm(deps, viewer, { id, identity })
  return { ...answered, next: 'confirmed' }
}

type Found = { id: string; identity: ProviderIdentity }

async function signIn(
  deps: AccountDeps,
  { id, identity, client, undo }: Found & { client: Client; undo: boolean },
): Promise<
  { next: 'signed-in'; result: SignedIn } | { next: 'code'; flow: string } | { next: 'sign-up'; flow: string }
> {
  const now = deps.now()
  const { subject } = identity
  const accountId = await findLinkedAccount(deps.db, { provider: id, subject, now })
  if (accountId === undefined) {
    const data = { provider: id, ...identity }
    const flow = await insertFlow(deps.db, { kind: 'provider_sign_up', accountId: null, data, now })
    return { next: 'sign-up', flow } as const
  }
  const result = await transaction(deps, async (tx, changed) => {
    const account = await lockAnyAccount(tx, accountId)
    if (account === undefined) throw invalidInput(EXPIRED)
    requireActive(account, now)
    if (!hasSecondFactor(account)) return openSession(tx, changed, { account, client, undo, now })
    await requireUndoing(tx, account, undo)
    const flow = { kind: 'sign_in_second_factor', accountId, data: { undo_deletion: undo } } as const
    return { code: await insertFlow(tx, { ...flow, now }) }
  })
  if ('code' in result) return { next: 'code', flow: result.code } as const
  if ('session' in result) await finish(deps, accountId, client)
  return { next: 'signed-in', result } as const
}

/** The session was confirmed when the sign-in began, and must still be. */
async function link(deps: AccountDeps, viewer: Viewer, { id, identity }: Found): Promise<void> {
  await confirmOwner(deps, viewer, {})
  await transaction(deps, async (tx, changed) => {
    await lockAccount(tx, viewer.id)
    await insertProviderLink(tx, changed, { accountId: viewer.id, provider: id, identity, now: deps.now() })
    const subject = { kind: 'user', id: viewer.id } as const
    const details = { provider: id }
    await recordAudit(tx, { action: 'account.provider_linked', actor: actorOf(viewer), subject, details })
    await enqueue(tx, 'accounts.send-mail', { kind: 'provider-linked', account_id: viewer.id, name: id })
  })
}

/** A password or a second factor must not be bypassed: the provider confirms only accounts without them. */
async function confirm(deps: AccountDeps, viewer: Viewer, { id, identity }: Found): Promise<void> {
  const now = deps.now()
  const accountId = await findLinkedAccount(deps.db, { provider: id, subject: identity.subject, now })
  const account = await transaction(deps, (tx) => lockAccount(tx, viewer.id))
  if (accountId !== viewer.id || account.password_hash !== null || hasSecondFactor(account))
    throw invalidCredentials('This account of the provider does not confirm your account')
  await markConfirmed(deps.db, viewer, now)
}
