// Requests the events of the embedded analytics store from the server that owns the store.
import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'

declare module '#platform/cache/changes.ts' {
  interface ChangeKinds {
    'events-export': true
  }
}

/** Kind of the notification. Its ID is the name of the folder in which the server puts the parts. */
export const EVENTS_KIND = 'events-export'

export async function requestEventExport(deps: Pick<Deps, 'db' | 'cache'>, id: string): Promise<void> {
  await transaction(deps, async (_tx, changed) => changed.add(EVENTS_KIND, id))
}
