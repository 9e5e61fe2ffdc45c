// Creates an access token of a service account.
import type { ConfirmOwner, OwnerProof } from '#features/basics/access/confirm-owner.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { actorOf } from '#features/basics/audit/actor.ts'
import { createAccessToken } from '#features/people/accounts/access-tokens/create-access-token.ts'
import type { TokenLimits } from '#features/people/accounts/access-tokens/limits.ts'
import type { AccessTokenRow } from '#features/people/accounts/access-tokens/queries.ts'
import type { Deps } from '#ports/deps.ts'
import { getGrantableAccount } from './queries.ts'

export type IssuingDeps = Deps & { confirmOwner: ConfirmOwner }

type ServiceToken = {
  organization: string
  account: string
  name: string
  scopes: number
  expires: Date
  limits: TokenLimits | null
  proof: OwnerProof
}

/** A token of a service account is always limited to resources: without a choice, to the organization. */
export function tokenLimitsOf(organization: { id: string }, limits: TokenLimits | null): TokenLimits {
  if (limits?.projects !== undefined || limits?.organizations !== undefined) return limits
  return { ...limits, organizations: [organization.id] }
}

/**
 * Creates a token of a service account for a member, who must have confirmed the password.
 * @throws ApiError 404, 403, `validation_error` naming the field, `limit_reached`, and like `ConfirmOwner`.
 */
export async function issueServiceToken(
  deps: IssuingDeps,
  viewer: Viewer,
  { organization: name, account: accountName, limits, proof, ...token }: ServiceToken,
): Promise<{ row: AccessTokenRow; token: string }> {
  const { organization, account } = await getGrantableAccount(deps.db, viewer, {
    organization: name,
    account: accountName,
  })
  await deps.confirmOwner(viewer, proof)
  return createAccessToken(deps, {
    ...token,
    actor: actorOf(viewer),
    accountId: account.id,
    makerId: viewer.id,
    limits: tokenLimitsOf(organization, limits),
  })
}
