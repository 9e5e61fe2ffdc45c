// Rows of drafts of versions.
import { sql } from 'kysely'
import type { Db } from '#platform/db/db.ts'

/** Drafts in one list: the latest. */
const DRAFTS_MAX = 200

export type DraftRow = {
  id: string
  project_id: string
  version_number: string
  name: string
  author: string
  created: Date
  /** When Depot deletes the draft if it stays incomplete; null for complete drafts. */
  draft_expires: Date | null
  /** Whether the version was never published. */
  is_new_draft: boolean
  files: number
  size_bytes: number
}

/** Returns the drafts of versions in these projects, the latest first. */
export async function listDrafts(db: Db, projectIds: readonly string[]): Promise<DraftRow[]> {
  const { rows } = await sql<DraftRow>`
    select version.id, version.project_id, version.version_number, version.name, account.username as author,
      version.date_published as created, version.draft_expires, version.is_new_draft, held.files, held.size_bytes
    from version join account on account.id = version.author_id
      join lateral (select count(*)::integer as files, coalesce(sum(file.size_bytes), 0)::bigint as size_bytes
        from file where file.version_id = version.id) held on true
    where version.project_id = any(${[...projectIds]}::text[]) and version.status = 'draft'
    order by version.date_published desc, version.id limit ${DRAFTS_MAX}`.execute(db)
  return rows
}
