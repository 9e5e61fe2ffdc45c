// Who acts, as the audit log keeps it.
import type { Viewer } from '#lib/access/viewer.ts'

export const ACTOR_KINDS = ['account', 'operator', 'command', 'system', 'anonymous'] as const

/**
 * `account`: a person by a token. `operator`: the holder of the admin key. `command`: the command line. `system`: Depot
 * by itself, for instance on a schedule. `anonymous`: a request without credentials, such as a refused sign-in.
 */
export type Actor =
  | {
      kind: 'account'
      id: string
      /** Absent where the request needs none, as a sign-in or a mailed link. */
      token?: { kind: string; id: string }
      address: string | null
    }
  | { kind: 'operator' | 'anonymous'; address: string }
  | { kind: 'command' | 'system' }

export const COMMAND: Actor = { kind: 'command' }
export const SYSTEM: Actor = { kind: 'system' }

/** The account behind a token. */
export function actorOf({ id, token, address }: Viewer): Actor {
  return { kind: 'account', id, token, address }
}

/** The caller of an operator route: an admin by their session, else the holder of the key. */
export function operatorOf({ viewer, clientAddress }: { viewer: Viewer | null; clientAddress: string }): Actor {
  return viewer === null ? { kind: 'operator', address: clientAddress } : actorOf(viewer)
}

/** An account that proves itself otherwise than by a token. `ip` is the address that the request comes from. */
export function ownerAt(id: string, { ip }: { ip: string }): Actor {
  return { kind: 'account', id, address: ip }
}
