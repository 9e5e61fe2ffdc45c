// The type of the function that ends access after a loss of permissions. The feature `revocation` implements it; features that
// it depends on receive it.
import type { ChangeSet } from '#platform/cache/changes.ts'
import type { Tx } from '#platform/db/db.ts'

/** Rows that these accounts created, or that belong to these projects. */
export type LostAccess = { now: number } & ({ accountIds: readonly string[] } | { projectIds: readonly string[] })

/**
 * Ends what may not act any more after a change of members, permissions, roles or owners, in the transaction of the change.
 */
export type EndLostAccess = (tx: Tx, changed: ChangeSet, of: LostAccess) => Promise<void>
