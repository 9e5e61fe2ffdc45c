// Current names of the objects that audit entries are about.
import { sql } from 'kysely'
import type { Db } from '#platform/db/db.ts'
import type { AuditRow } from './queries.ts'

/** `slug`: of the project for versions. */
export type ObjectName = { name: string; slug: string | null }

/** Names by `kind ID`. */
export type ObjectNames = ReadonlyMap<string, ObjectName>

/** Fields of details that contain IDs, with the kind of the object. */
const DETAIL_KINDS: Readonly<Record<string, string>> = {
  project: 'project',
  projects: 'project',
  organization: 'organization',
  user: 'user',
  account: 'user',
}

/** Maximum number of objects that one statement names. */
const NAMED_MAX = 1_000

/** Returns the kind and the IDs of a detail, or undefined if the detail contains no IDs. */
export function objectsOf(name: string, value: unknown): { kind: string; ids: string[] } | undefined {
  const kind = DETAIL_KINDS[name]
  const ids = [value].flat().filter((each): each is string => typeof each === 'string' && /^\w{1,32}$/.test(each))
  return kind === undefined || ids.length === 0 ? undefined : { kind, ids }
}

/** Returns the names of the objects of these entries and of their details, with one statement. Deleted objects are missing. */
export async function listObjectNames(db: Db, rows: readonly AuditRow[]): Promise<ObjectNames> {
  const objects = rows.flatMap(({ subject_kind: kind, subject_id: id, details }) => [
    ...(kind === null || id === null ? [] : [{ kind, ids: [id] }]),
    ...Object.entries((details ?? {}) as object).flatMap(([name, value]) => objectsOf(name, value) ?? []),
  ])
  const idsOf = (wanted: string) =>
    [...new Set(objects.flatMap(({ kind, ids }) => (kind === wanted ? ids : [])))].slice(0, NAMED_MAX)
  const { rows: named } = await sql<{ kind: string; id: string } & ObjectName>`
    select 'project' as kind, id, name, slug from project where id = any(${idsOf('project')}::text[])
    union all select 'organization', id, name, slug from organization where id = any(${idsOf('organization')}::text[])
    union all select 'collection', id, name, null from collection where id = any(${idsOf('collection')}::text[])
    union all select 'pack', id, name, null from pack where id = any(${idsOf('pack')}::text[])
    union all select 'user', id, username, null from account where id = any(${idsOf('user')}::text[])
    union all select 'version', version.id, project.name || ' ' || version.version_number, project.slug
      from version join project on project.id = version.project_id where version.id = any(${idsOf('version')}::text[])`.execute(
    db,
  )
  return new Map(named.map(({ kind, id, name, slug }) => [`${kind} ${id}`, { name, slug }]))
}

/** Returns the kind and ID of the project or organization with this slug, or of the user with this name. */
export async function findObject(db: Db, name: string): Promise<{ kind: string; id: string } | undefined> {
  const { rows } = await sql<{ kind: string; id: string }>`
    select 'project' as kind, id from project where slug = lower(${name})
    union all select 'organization', id from organization where lower(slug) = lower(${name})
    union all select 'user', id from account where lower(username) = lower(${name}) limit 1`.execute(db)
  return rows[0]
}
