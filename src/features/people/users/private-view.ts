// Accounts with the fields that only the user and admins see.

import { hasScope } from '#features/basics/access/scopes.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { getCachedAvailable, peekAvailable } from '#features/people/payouts/queries.ts'
import { entityTag, viewOf } from '#lib/text/json-bytes.ts'
import type { DerivedForm } from '#platform/cache/entries.ts'
import type { Deps } from '#ports/deps.ts'
import { canSeePrivateFields } from './policy.ts'
import { type AccountRow, getAccount } from './queries.ts'
import { type CachedUser, listCachedUsers, peekUser, userForm } from './user-cache.ts'
import { toPrivateFields, toPrivateUserView, toPublicUserView, type UserView } from './views.ts'

type ViewDeps = Pick<Deps, 'db' | 'cache' | 'now' | 'config'>

/** Returns the view of an account for the user and admins, with the fields that the scopes of the token allow. */
export async function getPrivateView(deps: ViewDeps, viewer: Viewer | null, account: AccountRow): Promise<UserView> {
  const scopes = viewer?.scopes ?? 0
  const balance = hasScope(scopes, 'PAYOUTS_READ') ? await getCachedAvailable(deps, account.id) : undefined
  const show = { email: hasScope(scopes, 'USER_READ_EMAIL'), balance }
  return toPrivateUserView(toPublicUserView(account, deps.config), toPrivateFields(account), show)
}

/** Returns the current view that the viewer's token can read. @throws ApiError 404. */
export async function readUserView(deps: ViewDeps, viewer: Viewer, id: string): Promise<UserView> {
  const account = await getAccount(deps.db, id)
  const mayRead = hasScope(viewer.scopes, 'USER_READ') && (viewer.id === id || canSeePrivateFields(viewer))
  return mayRead ? getPrivateView(deps, viewer, account) : toPublicUserView(account, deps.config)
}

type OwnResponse = { readonly bytes: Buffer; readonly etag: string }

/** The responses that show an account to its user; the key is the private fields that the scopes of a token permit. */
export type OwnForm = DerivedForm<CachedUser, Map<string, OwnResponse>> & { toView: (user: UserView) => unknown }

/** Few kinds of tokens are used at a time, and the balance changes rarely. */
const OWN_FORMS_MAX = 8
const OWN_FORM_BYTES = 1_000

/** `toView` makes the form of an API from the view. */
export const ownForm = (toView: OwnForm['toView']): OwnForm => ({
  derive: () => new Map(),
  sizeOf: () => OWN_FORM_BYTES,
  toView,
})

/** Returns the viewer's own account as bytes if all of it is cached. */
export function peekOwn(deps: Omit<ViewDeps, 'db'>, viewer: Viewer, form: OwnForm): OwnResponse | undefined {
  const user = peekUser(deps, viewer.id)
  if (user === undefined) return undefined
  const email = hasScope(viewer.scopes, 'USER_READ_EMAIL')
  const hasBalance = hasScope(viewer.scopes, 'PAYOUTS_READ')
  const balance = hasBalance ? peekAvailable(deps, viewer.id) : undefined
  if (hasBalance && balance === undefined) return undefined
  const forms = userForm(deps, user, form)
  const key = `${email} ${balance}`
  const known = forms.get(key)
  if (known !== undefined) return known
  if (forms.size >= OWN_FORMS_MAX) forms.clear()
  const view = toPrivateUserView(viewOf(user), user.private, { email, balance })
  const bytes = Buffer.from(JSON.stringify(form.toView(view)))
  const response = { bytes, etag: entityTag(bytes) }
  forms.set(key, response)
  return response
}

/** Caches what `peekOwn` needs, and returns it; undefined if the account waits for its deletion, which is not cached. */
export async function readOwn(deps: ViewDeps, viewer: Viewer, form: OwnForm): Promise<OwnResponse | undefined> {
  await Promise.all([
    listCachedUsers(deps, [viewer.id]),
    hasScope(viewer.scopes, 'PAYOUTS_READ') ? getCachedAvailable(deps, viewer.id) : undefined,
  ])
  return peekOwn(deps, viewer, form)
}
