// The provenance of versions: the build of a trusted publisher that created all files.
import { type RawBuilder, sql } from 'kysely'
import type { Viewer } from '#features/basics/access/viewer.ts'
import type { Tx } from '#platform/db/db.ts'
import type { VersionRow } from '../queries.ts'

/** Returns the value of the column: the claims of the build that the viewer's token belongs to. */
export function provenanceOf({ token }: Viewer): RawBuilder<string> | null {
  if (token.kind !== 'publisher') return null
  return sql<string>`(select provenance from publisher_token where id = ${token.id})`
}

/** Deletes the provenance of a version that gets files from elsewhere, because it would no longer be true for all files. */
export async function keepProvenance(tx: Tx, viewer: Viewer, { id, provenance }: VersionRow): Promise<void> {
  if (provenance === null) return
  await tx
    .updateTable('version')
    .set({ provenance: null })
    .where('id', '=', id)
    .where('provenance', 'is distinct from', provenanceOf(viewer))
    .execute()
}
