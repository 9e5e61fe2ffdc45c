// Creates an access token of a service account.
import { actorOf } from '#features/basics/audit/actor.ts'
import { createAccessToken } from '#features/people/accounts/access-tokens/create-access-token.ts'
import type { TokenLimits } from '#features/people/accounts/access-tokens/limits.ts'
import type { AccessTokenRow } from '#features/people/accounts/access-tokens/queries.ts'
import type { Viewer } from '#lib/access/viewer.ts'
import type { Deps } from '#ports/deps.ts'
import { getGrantableAccount } from './queries.ts'

type ServiceToken = {
  organization: string
  account: string
  name: string
  scopes: number
  expires: Date
  limits: TokenLimits | null
}

/** A token of a service account is always limited to resources: without a choice, to the organization. */
export function tokenLimitsOf(organization: { id: string }, limits: TokenLimits | null): TokenLimits {
  if (limits?.projects !== undefined || limits?.organizations !== undefined) return limits
  return { ...limits, organizations: [organization.id] }
}

/** @throws ApiError 404, 403, `validation_error` naming the field, `limit_reached`. */
export async function issueServiceToken(
  deps: Deps,
  viewer: Viewer,
  { organization: name, account: accountName, limits, ...token }: ServiceToken,
): Promise<{ row: AccessTokenRow; token: string }> {
  const { organization, account } = await getGrantableAccount(deps.db, viewer, {
    organization: name,
    account: accountName,
  })
  return createAccessToken(deps, {
    ...token,
    actor: actorOf(viewer),
    accountId: account.id,
    makerId: viewer.id,
    limits: tokenLimitsOf(organization, limits),
  })
}
