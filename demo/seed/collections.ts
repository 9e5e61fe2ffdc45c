// Writes a few collections of demo projects.

import { COLLECTIONS } from '#demo/catalogue/words.ts'
import { demoId, demoRandom } from '#demo/ids.ts'
import { addMissing, markItems, type Written } from '#demo/items.ts'
import { insertRows } from '#demo/seed/insert-rows.ts'
import { DAY_MS } from '#lib/time.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'

/**
 * Adds missing collections: one per twenty projects.
 * @param projectIds IDs of public demo projects.
 */
export async function seedCollections(
  deps: Pick<Deps, 'db' | 'cache'>,
  { projectIds, people, until }: { projectIds: readonly string[]; people: number; until: Date },
): Promise<Written> {
  const wanted = Array.from({ length: Math.ceil(projectIds.length / 20) }, (_, n) => ({
    id: demoId('collection', n),
    n,
  }))
  return addMissing(deps.db, 'collection', wanted, async (missing) => {
    const collections = missing.map(({ id, n }) => {
      const random = demoRandom('collection', n)
      const chosen = new Set(Array.from({ length: random.integer(3, 12) }, () => random.pick(projectIds)))
      const created = new Date(until.getTime() - random.integer(1, 700) * DAY_MS)
      const owner = demoId('account', random.integer(0, people - 1))
      const [name, description] = COLLECTIONS[n % COLLECTIONS.length] ?? ['', '']
      const volume = Math.floor(n / COLLECTIONS.length)
      const row = {
        id,
        account_id: owner,
        name: volume === 0 ? name : `${name} ${volume + 1}`,
        description,
        status: 'listed' as const,
        created,
        updated: created,
      }
      const entries = Array.from(chosen, (project_id, position) => ({ collection_id: id, project_id, position }))
      return { row, entries }
    })
    const rows = collections.map(({ row }) => row)
    const entries = collections.flatMap((collection) => collection.entries)
    await transaction(deps, async (tx) => {
      await insertRows(tx, 'collection', rows)
      await markItems(tx, 'collection', missing)
      await insertRows(tx, 'collection_project', entries)
    })
  })
}
