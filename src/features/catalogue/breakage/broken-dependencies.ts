// Dependencies of which no version can be chosen any more.
import { type RawBuilder, sql } from 'kysely'
import { LIST_ORDER, PUBLIC_VERSION_STATUSES } from '#features/basics/access/version-status.ts'
import type { Db } from '#platform/db/db.ts'
import { PUBLIC_STATUSES } from '#taxonomy/project-status.ts'

const IS_HIDDEN = sql`(needed.status <> all(${[...PUBLIC_STATUSES]}::text[])
  or exact.status <> all(${[...PUBLIC_VERSION_STATUSES]}::text[]))`

/** The reason for which a dependency of a row `version` has broken. Its project once had a version that could be chosen. */
const REASON = sql`case when ${IS_HIDDEN} then 'hidden'
  when exact.withdrawn_at is not null then 'withdrawn'
  when dependency.version_id is null and dependency.dependency_type = 'required' and (
      exists (select from version other where other.project_id = needed.id and other.withdrawn_at is not null)
      or exists (select from dependency_break lost where lost.version_id = version.id and lost.lost_project_id = needed.id))
    and lacks_version(needed.id, null, null, null, version.loaders, version.fields) then 'withdrawn' end`

/** The broken dependencies of the row `version`, with the columns `project_id`, `version_id`, `reason` and `at`. */
export const BROKEN: RawBuilder<unknown> = sql`(
  select needed.id as project_id, exact.id as version_id, reason.value as reason, coalesce(exact.withdrawn_at, needed.updated) as at
  from dependency join project needed on needed.id = dependency.project_id
  left join version exact on exact.id = dependency.version_id
  cross join lateral (select ${REASON} as value) reason
  where dependency.dependent_id = version.id and dependency.dependency_type in ('required', 'optional')
    and reason.value is not null
  union all
  select lost.lost_project_id, null, 'removed', lost.created from dependency_break lost
  where lost.version_id = version.id and lost.reason = 'removed' and lost.lost_version_id is null)`

export type BrokenDependency = {
  /** The project that is required. It might no longer exist. */
  project_id: string
  version_id: string | null
  reason: 'withdrawn' | 'hidden' | 'removed'
}

/** Returns the broken dependencies of a project's newest version that is listed and not withdrawn, with that version. */
export async function listBrokenOf(
  db: Db,
  projectId: string,
): Promise<(BrokenDependency & { dependent_id: string; version_number: string })[]> {
  const { rows } = await sql<BrokenDependency & { dependent_id: string; version_number: string }>`
    select version.id as dependent_id, version.version_number, broken.project_id, broken.version_id, broken.reason
    from (select id, version_number, loaders, fields from version
      where project_id = ${projectId} and is_listed(status) and withdrawn_at is null
      order by ${LIST_ORDER} limit 1) version
    cross join lateral ${BROKEN} broken order by broken.at desc, broken.project_id limit 20`.execute(db)
  return rows
}
