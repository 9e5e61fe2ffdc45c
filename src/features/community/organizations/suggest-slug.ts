// Suggests a free slug for the name of a new organization.
import { sql } from 'kysely'
import { slugsOf } from '#features/catalogue/projects/similar/suggest-slug.ts'
import type { Db } from '#platform/db/db.ts'

/** Returns the name in lower case with hyphens, followed by a number if this slug is taken. */
export async function suggestOrganizationSlug(db: Db, name: string): Promise<string> {
  const candidates = slugsOf(name, 'organization')
  const { rows } = await sql<{ taken: string }>`select slug as taken from organization where slug = any(${candidates})
    union select lower(id) from organization where lower(id) = any(${candidates})`.execute(db)
  const taken = new Set(rows.map((row) => row.taken))
  return candidates.find((slug) => !taken.has(slug)) ?? candidates[0] ?? ''
}
