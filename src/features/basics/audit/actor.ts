// The actor of an audit entry.
import type { Viewer } from '#features/basics/access/viewer.ts'

export const ACTOR_KINDS = ['account', 'operator', 'command', 'system', 'anonymous'] as const

/**
 * `account`: a user. `operator`: the holder of the admin key. `command`: the command line. `system`: Depot itself, for
 * example on a schedule. `anonymous`: a request without credentials, such as a failed sign-in.
 */
export type Actor =
  | {
      kind: 'account'
      id: string
      /** Absent if the request needs no token, as for a sign-in or a link in an email. */
      token?: { kind: string; id: string }
      address: string | null
    }
  | { kind: 'operator' | 'anonymous'; address: string }
  | { kind: 'command' | 'system' }

export const COMMAND: Actor = { kind: 'command' }
export const SYSTEM: Actor = { kind: 'system' }

/** Returns the account of a viewer as an actor. */
export function actorOf({ id, token, address }: Viewer): Actor {
  return { kind: 'account', id, token, address }
}

/** Returns the caller of an operator route: an admin with a session, otherwise the holder of the key. */
export function operatorOf({ viewer, clientAddress }: { viewer: Viewer | null; clientAddress: string }): Actor {
  return viewer === null ? { kind: 'operator', address: clientAddress } : actorOf(viewer)
}

/** Returns an account that acts without a token, from the IP address of the request. */
export function ownerAt(id: string, { ip }: { ip: string }): Actor {
  return { kind: 'account', id, address: ip }
}
