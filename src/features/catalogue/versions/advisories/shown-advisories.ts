// The published advisories that the public pages of a project show. A change of the project removes them from the cache.

import { sql } from 'kysely'
import { defineCache } from '#platform/cache/definitions.ts'
import type { EntityCache } from '#platform/cache/entity-cache.ts'
import type { Db } from '#platform/db/db.ts'

export type ShownAdvisory = {
  id: string
  summary: string
  /** IDs of the project's versions that it names or whose files it names, also of hidden versions. */
  versionIds: ReadonlySet<string>
}

type ProjectAdvisories = { projectId: string; advisories: readonly ShownAdvisory[] }

/** Maximum number of advisories per project, the newest first. */
const SHOWN_MAX = 100
const ROW_BYTES = 300
const ID_BYTES = 80

const SHOWN = defineCache({
  name: 'project-advisories',
  contains: 'Published advisories that the pages of a project show',
  follows: 'project',
  idOf: ({ projectId }: ProjectAdvisories) => projectId,
  sizeOf: ({ advisories }: ProjectAdvisories) =>
    advisories.reduce((bytes, { summary, versionIds }) => {
      return bytes + ROW_BYTES + summary.length * 2 + versionIds.size * ID_BYTES
    }, ROW_BYTES),
  recount: (value: ProjectAdvisories) => value,
})

/** Returns the published advisories about a project, its versions or their files, newest first. */
export async function listShownAdvisories(
  { db, cache }: { db: Db; cache: EntityCache },
  projectId: string,
): Promise<readonly ShownAdvisory[]> {
  const cached = await cache.kind(SHOWN).get(projectId, (ids) => readShownAdvisories(db, ids))
  return cached?.advisories ?? []
}

async function readShownAdvisories(db: Db, projectIds: readonly string[]): Promise<ProjectAdvisories[]> {
  const { rows } = await sql<{ project_id: string; id: string; summary: string; version_ids: string[] }>`
    with own as (select id, project_id from version where project_id = any(${[...projectIds]}::text[])),
    hit as (
      select own.project_id, advisory_version.advisory_id, own.id as version_id
        from own join advisory_version on advisory_version.version_id = own.id
      union
      select own.project_id, advisory_hash.advisory_id, own.id from own join file on file.version_id = own.id
        join advisory_hash on advisory_hash.hash in (file.sha1, file.sha512)
      union
      select project_id, id, null from advisory where project_id = any(${[...projectIds]}::text[])
    )
    select hit.project_id, advisory.id, advisory.summary,
      array_remove(array_agg(hit.version_id order by hit.version_id), null) as version_ids
    from hit join advisory on advisory.id = hit.advisory_id and advisory.status = 'published'
    group by hit.project_id, advisory.id order by advisory.published desc, advisory.id`.execute(db)
  return projectIds.map((projectId) => ({
    projectId,
    advisories: rows
      .filter((row) => row.project_id === projectId)
      .slice(0, SHOWN_MAX)
      .map(({ id, summary, version_ids }) => ({ id, summary, versionIds: new Set(version_ids) })),
  }))
}

/** Returns the IDs of the projects whose pages show the advisory when it is published. */
export async function listConcernedProjects(db: Db, advisoryId: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select project_id as id from advisory where id = ${advisoryId} and project_id is not null
    union select version.project_id from advisory_version join version on version.id = advisory_version.version_id
      where advisory_id = ${advisoryId}
    union select version.project_id from advisory_hash join file on file.sha1 = advisory_hash.hash
      join version on version.id = file.version_id where advisory_id = ${advisoryId}
    union select version.project_id from advisory_hash join file on file.sha512 = advisory_hash.hash
      join version on version.id = file.version_id where advisory_id = ${advisoryId}`.execute(db)
  return rows.map(({ id }) => id)
}
