// Suggests a free slug for the name of a new project.
import { sql } from 'kysely'
import { withoutEnd } from '#lib/text/linear-text.ts'
import type { Db } from '#platform/db/db.ts'
import { foldWords } from '#ports/search-index/fold.ts'
import { isReservedSlug } from '../queries.ts'

const LENGTH = { min: 3, max: 60 }
/** Number of slugs that are tried: the folded name, then with a number. */
const ATTEMPTS = 20

/** Returns the name in lower case with hyphens, then with numbers. A name that is too short follows `prefix`. */
export function slugsOf(name: string, prefix: string): string[] {
  // Without the letters of other scripts, which search folds to the Latin ones that they look like.
  const words = foldWords(name.replaceAll(/[^\p{Script=Latin}\p{Script=Common}\p{Script=Inherited}]/gu, ''))
    .map((word) => word.replaceAll(/[^a-z0-9]/g, ''))
    .filter((word) => word !== '')
  const folded = withoutEnd(words.join('-').slice(0, LENGTH.max), '-')
  const first = folded.length >= LENGTH.min ? folded : `${prefix}-${folded}`.replace(/-$/, '')
  return [first, ...Array.from({ length: ATTEMPTS - 1 }, (_, n) => `${first}-${n + 2}`)]
}

/** Returns the name in lower case with hyphens, followed by a number if this slug is taken. */
export async function suggestSlug(db: Db, name: string): Promise<string> {
  const candidates = slugsOf(name, 'project')
  const { rows } = await sql<{ taken: string }>`select slug as taken from project where slug = any(${candidates})
    union select lower(id) from project where lower(id) = any(${candidates})`.execute(db)
  const taken = new Set(rows.map((row) => row.taken))
  return candidates.find((slug) => !taken.has(slug) && !isReservedSlug(slug)) ?? candidates[0] ?? ''
}
