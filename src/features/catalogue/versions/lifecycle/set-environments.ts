// Sets the environment (client or server) of all versions of a project.
import { sql } from 'kysely'
import type { ChangeSet } from '#platform/cache/changes.ts'
import type { Tx } from '#platform/db/db.ts'
import type { LoaderFieldValues } from '#taxonomy/loader-fields.ts'
import { fieldsOf, type Taxonomy } from '#taxonomy/taxonomy.ts'

const FIELD = 'environment'

/** Returns the new environment of a version. */
export type NextEnvironment = (current: string) => string

/**
 * Updates the listed and archived versions of a project with two statements, and returns whether any version changed.
 * Skips versions whose loaders have no environment. The caller must lock the project and check the permission.
 */
export async function setEnvironments(
  tx: Tx,
  changed: ChangeSet,
  { projectId, next, taxonomy }: { projectId: string; next: NextEnvironment; taxonomy: Taxonomy },
): Promise<boolean> {
  const versions = await tx
    .selectFrom('version')
    .select(['id', 'loaders', 'fields'])
    .where('project_id', '=', projectId)
    .where(sql<boolean>`is_listed(status)`)
    .orderBy('id')
    .forUpdate()
    .execute()
  const edits = versions.flatMap(({ id, loaders, fields }) => {
    if (!fieldsOf(taxonomy, loaders).includes(FIELD)) return []
    const current = String((fields as LoaderFieldValues)[FIELD] ?? 'unknown')
    const environment = next(current)
    return environment === current ? [] : [{ id, environment }]
  })
  if (edits.length === 0) return false
  await sql`update version set fields = version.fields || jsonb_build_object('environment', edit.environment)
    from jsonb_to_recordset(${JSON.stringify(edits)}::jsonb) as edit (id text, environment text)
    where version.id = edit.id`.execute(tx)
  const ids = edits.map(({ id }) => id)
  changed.addEach('version', ids)
  changed.add('project', projectId)
  return true
}
