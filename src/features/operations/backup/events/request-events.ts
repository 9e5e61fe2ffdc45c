// Asks the server that has the embedded store of events open to hand them over.
import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'

/** The kind of notice that asks; its ID names the folder where the parts are to be put. */
export const EVENTS_KIND = 'events-export'

export async function requestEventExport(deps: Pick<Deps, 'db' | 'cache'>, id: string): Promise<void> {
  await transaction(deps, async (_tx, changed) => changed.add(EVENTS_KIND, id))
}
