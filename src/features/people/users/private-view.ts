import { getBalance } from '#features/people/payouts/queries.ts'
import { hasScope } from '#lib/access/scopes.ts'
import type { Viewer } from '#lib/access/viewer.ts'
import type { Deps } from '#ports/deps.ts'
import { canSeePrivateFields } from './policy.ts'
import { type AccountRow, getAccount } from './queries.ts'
import { toPrivateUserView, toPublicUserView, type UserView } from './views.ts'

/** Returns the view of an account for the user and admins, with the fields that the scopes of the token allow. */
export async function getPrivateView(
  { db, now, config }: Pick<Deps, 'db' | 'now' | 'config'>,
  viewer: Viewer | null,
  account: AccountRow,
): Promise<UserView> {
  const scopes = viewer?.scopes ?? 0
  const balance = hasScope(scopes, 'PAYOUTS_READ') ? (await getBalance(db, account.id, now())).available : undefined
  return toPrivateUserView(account, { config, email: hasScope(scopes, 'USER_READ_EMAIL'), balance })
}

/** Returns the current view that the viewer's token can read. @throws ApiError 404. */
export async function readUserView(
  deps: Pick<Deps, 'db' | 'now' | 'config'>,
  viewer: Viewer,
  id: string,
): Promise<UserView> {
  const account = await getAccount(deps.db, id)
  const mayRead = hasScope(viewer.scopes, 'USER_READ') && (viewer.id === id || canSeePrivateFields(viewer))
  return mayRead ? getPrivateView(deps, viewer, account) : toPublicUserView(account, deps.config)
}
