// Reads in the transaction of a dry run which project or version the request would store.
import { sql } from 'kysely'
import type { Changes } from '#platform/cache/changes.ts'
import type { Tx } from '#platform/db/db.ts'
import type { Outcome } from './views.ts'

export type Look = (tx: Tx, changed: Changes) => Promise<Outcome>

/** Reads the version that a command has created or changed. */
export const lookAtVersion: Look = async (tx, changed) => {
  const ids = changed.get('version')
  const [id = ''] = ids === undefined || ids === 'all' ? [] : ids
  const [version] = await listVersions(tx, 'id', id)
  if (version === undefined) throw new Error('The transaction has no version')
  const { version_number, ...outcome } = version
  return outcome
}

/** Reads the project with this slug, which a command has created. */
export const lookAtNewProject =
  (slug: () => string | undefined): Look =>
  async (tx) => {
    const project = await tx
      .selectFrom('project')
      .select(['id', 'status'])
      .where('slug', '=', slug() ?? '')
      .executeTakeFirstOrThrow()
    const versions = await listVersions(tx, 'project_id', project.id)
    return { status: project.status, versions: versions.map(({ status, ...version }) => version) }
  }

/** Reads the status of a project. */
export const lookAtProject =
  (id: () => string): Look =>
  (tx) =>
    tx.selectFrom('project').select('status').where('id', '=', id()).executeTakeFirstOrThrow()

type VersionRow = Required<Pick<Outcome, 'status' | 'file_types' | 'dependencies'>> & { version_number: string }

async function listVersions(tx: Tx, key: 'id' | 'project_id', id: string): Promise<VersionRow[]> {
  const { rows } = await sql<VersionRow>`
    select version.status, version.version_number,
      (select coalesce(jsonb_object_agg(filename, file_type), '{}') from file where version_id = version.id) as file_types,
      (select coalesce(jsonb_agg(jsonb_build_object('project_id', project_id, 'version_id', version_id,
          'file_name', file_name, 'dependency_type', dependency_type) order by id), '[]')
        from dependency where dependent_id = version.id) as dependencies
    from version where version.${sql.ref(key)} = ${id} order by date_published, version.id`.execute(tx)
  return rows
}
