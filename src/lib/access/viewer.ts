// The account of a request's token, for policies. `null`: an anonymous caller.
import type { ScopeBits } from './scopes.ts'

export type Role = 'developer' | 'moderator' | 'admin'

export type Viewer = {
  readonly id: string
  readonly role: Role
  readonly emailVerified: boolean
  /** Scopes of the token. A session has every scope. */
  readonly scopes: ScopeBits
  /** Key of the caller's IP address (`addressKey`), for queues that serve callers in turn. */
  readonly caller: string
  /** IP address of the caller, for the audit log. */
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
