// Who asks: the account behind a request's token, as policies see it. `null` stands for an anonymous caller.
import type { ScopeBits } from './scopes.ts'

export type Role = 'developer' | 'moderator' | 'admin'

export type Viewer = {
  readonly id: string
  readonly role: Role
  readonly emailVerified: boolean
  /** What the token may be used for; a session holds every scope. */
  readonly scopes: ScopeBits
  /** The key of the address that asks (`addressKey`): work that has to wait waits fairly between these. */
  readonly caller: string
  /** The address that asks, for the audit log. */
  readonly address: string
  readonly token: { readonly kind: 'session' | 'pat' | 'oauth' | 'code-host'; readonly id: string }
}

/** Moderators and admins. */
export function isModerator(viewer: Viewer | null): boolean {
  return viewer !== null && (viewer.role === 'moderator' || viewer.role === 'admin')
}

export function isAdmin(viewer: Viewer | null): boolean {
  return viewer !== null && viewer.role === 'admin'
}
