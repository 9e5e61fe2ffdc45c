// Writes a few collections of demo projects.

import { createRandom } from '#demo/catalogue/random.ts'
import { demoId } from '#demo/ids.ts'
import { listPresent, markItems } from '#demo/items.ts'
import { insertRows } from '#demo/seed/insert-rows.ts'
import type { Written } from '#demo/seed/people.ts'
import { DAY_MS } from '#lib/time.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'

const TITLES = ['Favourites', 'For a rainy evening', 'Server basics', 'Small and good', 'Building blocks', 'To try out']
const SIZE_MIN = 3
const SIZE_MAX = 12

/**
 * Adds missing collections: one per twenty projects.
 * @param projectIds IDs of public demo projects.
 */
export async function seedCollections(
  deps: Pick<Deps, 'db' | 'cache'>,
  { projectIds, people, seed, until }: { projectIds: readonly string[]; people: number; seed: number; until: Date },
): Promise<Written> {
  const count = Math.ceil(projectIds.length / 20)
  const wanted = Array.from({ length: count }, (_, n) => ({ id: demoId('collection', n), n }))
  const present = new Set<string>()
  for (let start = 0; start < count; start += 1000) {
    const ids = wanted.slice(start, start + 1000).map(({ id }) => id)
    for (const id of await listPresent(deps.db, 'collection', ids)) present.add(id)
  }
  const missing = wanted.filter(({ id }) => !present.has(id))
  const collections = missing.map(({ id, n }) => {
    const random = createRandom(seed, 2_000_000 + n)
    const size = random.integer(SIZE_MIN, SIZE_MAX)
    const chosen = new Set(Array.from({ length: size }, () => random.pick(projectIds)))
    const created = new Date(until.getTime() - random.integer(1, 700) * DAY_MS)
    const owner = demoId('account', random.integer(0, people - 1))
    return { id, chosen: [...chosen], name: random.pick(TITLES), created, owner }
  })
  await transaction(deps, async (tx) => {
    await insertRows(
      tx,
      'collection',
      collections.map(({ id, name, created, owner }) => ({
        id,
        account_id: owner,
        name,
        status: 'listed',
        created,
        updated: created,
      })),
    )
    await markItems(
      tx,
      'collection',
      missing.map(({ id }) => id),
    )
    await insertRows(
      tx,
      'collection_project',
      collections.flatMap(({ id, chosen }) =>
        chosen.map((projectId, position) => ({ collection_id: id, project_id: projectId, position })),
      ),
    )
  })
  return { added: missing.length, present: present.size }
}
