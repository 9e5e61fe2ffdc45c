// The user at a provider who continues with a sign-up.
import type { ChangeSet } from '#platform/cache/changes.ts'
import type { Tx } from '#platform/db/db.ts'
import type { AccountDeps } from '../account-deps.ts'
import { type Flow, findFlow, takeFlow } from '../mail/flows.ts'
import { invalidCredentials } from '../sign-in/sign-in-guard.ts'
import type { ProviderIdentity } from './provider-client.ts'
import { insertProviderLink } from './queries.ts'

/** A user at a provider without an account here. */
export type SignUpIdentity = ProviderIdentity & { provider: string }

const expired = () => invalidCredentials('The sign-up has expired. Start the sign-in again.')

/** Returns the user of a flow. @throws ApiError `invalid_credentials` */
export async function getSignUpIdentity(
  { db, now }: Pick<AccountDeps, 'db' | 'now'>,
  secret: string,
): Promise<SignUpIdentity> {
  const flow = await findFlow(db, 'provider_sign_up', { secret, now: now() })
  if (flow === undefined) throw expired()
  return toIdentity(flow)
}

/** Uses the flow, and links the new account. @throws ApiError `invalid_credentials`, `conflict` */
export async function takeIdentity(
  tx: Tx,
  changed: ChangeSet,
  of: { accountId: string; secret: string; identity: SignUpIdentity; now: number },
): Promise<void> {
  const { accountId, secret, identity, now } = of
  if ((await takeFlow(tx, 'provider_sign_up', { secret, now })) === undefined) throw expired()
  await insertProviderLink(tx, changed, { accountId, provider: identity.provider, identity, now })
}

const toIdentity = ({ data }: Flow): SignUpIdentity => data as SignUpIdentity
