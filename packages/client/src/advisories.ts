// Finds advisories about files.
import type { Call, Data } from './operations.ts'

/** Hashes that are affected, in lower case, with their OSV documents. */
export type AdvisoriesByHash = Data<'/v3/advisories/match', 'post'>

/** The most hashes that a request can have. */
const HASHES_MAX = 1000

export async function matchAdvisories(
  { post }: { post: Call<'post'> },
  hashes: readonly string[],
): Promise<AdvisoriesByHash> {
  const found: AdvisoriesByHash = {}
  for (let from = 0; from < hashes.length; from += HASHES_MAX) {
    const part = hashes.slice(from, from + HASHES_MAX)
    Object.assign(found, await post('/v3/advisories/match', { body: { hashes: part } }))
  }
  return found
}
