// Reads everything that a document needs from the database, in one statement for many projects.
import { type RawBuilder, sql } from 'kysely'
import type { Db } from '#platform/db/db.ts'
import type { SearchDependency } from '#ports/search-index/document.ts'
import { PUBLIC_STATUSES } from '#taxonomy/project-status.ts'

/** Maximum number of indexed versions (the first of the list) and dependencies (the first) of a project. */
const VERSIONS_MAX = 5_000
const DEPENDENCIES_MAX = 1_000

export type DocumentRow = {
  id: string
  slug: string
  name: string
  summary: string
  license: string
  categories: string[]
  additional_categories: string[]
  other_names: string[]
  downloads: number
  followers: number
  icon_url: string | null
  color: number | null
  created: Date
  updated: Date
  author: string
  author_id: string
  organization: string | null
  organization_id: string | null
  /** In the order of the gallery. */
  gallery: { url: string; featured: boolean }[] | null
  /** In the order of the project's list. */
  versions: VersionRow[] | null
  dependencies: SearchDependency[] | null
}

/** An array, because property names would be most of the data. */
export type VersionRow = [
  id: string | null,
  status: 'listed' | 'archived',
  publishedMs: number,
  ordering: number | null,
  loaders: string[],
  fields: Record<string, unknown>,
]

/** Returns the rows of these projects, except those that are not searchable. Reads from the primary. */
export function listDocumentRows(db: Db, ids: readonly string[]): Promise<DocumentRow[]> {
  return readDocuments(db, sql`project.id = any(${[...ids]}::text[])`)
}

/** Returns the next `limit` searchable projects by ID. */
export function listNextDocumentRows(
  db: Db,
  { after, limit }: { after: string; limit: number },
): Promise<DocumentRow[]> {
  return readDocuments(db, sql`project.id > ${after}`, sql`order by project.id limit ${limit}`)
}

async function readDocuments(db: Db, condition: RawBuilder<unknown>, order = sql``): Promise<DocumentRow[]> {
  const listed = sql`version.project_id = project.id and is_listed(version.status)`
  const { rows } = await sql<DocumentRow>`
    select project.id, project.slug, project.name, project.summary, project.license, project.categories,
      project.additional_categories, project.other_names, project.downloads, project.followers, project.icon_url, project.color,
      coalesce(project.approved, project.published) as created, project.updated,
      owner.username as author, owner.id as author_id, organization.name as organization, project.organization_id,
      (select json_agg(json_build_object('url', url, 'featured', featured) order by ordering, created, id)
        from gallery_item where gallery_item.project_id = project.id) as gallery,
      (select json_agg(json_build_array(id, status, (extract(epoch from date_published) * 1000)::bigint, ordering, loaders, fields)
        order by place) from (
        select case when version.withdrawn_at is null then version.id end as id, version.status, version.date_published,
          -- Engines know the order by date, so other versions get an ordering.
          case when version.number_key is null then version.ordering else (row_number() over list)::int end as ordering,
          version.loaders, version.fields, row_number() over list as place
        from version where ${listed} and (version.withdrawn_at is null or not exists (
          select from version other where other.project_id = project.id and is_listed(other.status)
            and other.withdrawn_at is null))
        window list as (order by version.ordering, version.number_key desc nulls last, version.date_published desc, version.id)
        order by place limit ${VERSIONS_MAX}) first
      ) as versions,
      (select json_agg(shown) from (
        select distinct named.id as project_id, dependency.dependency_type, named.name, named.slug, named.icon_url
        from version
        join dependency on dependency.dependent_id = version.id
        join project named on named.id = dependency.project_id
        where ${listed} and named.status = any(${[...PUBLIC_STATUSES]}::text[])
        order by dependency.dependency_type, named.id limit ${DEPENDENCIES_MAX}) shown) as dependencies
    from project
    left join organization on organization.id = project.organization_id
    join team_member member on member.team_id = coalesce(organization.team_id, project.team_id) and member.is_owner
    join account owner on owner.id = member.account_id
    where is_searchable(project.status) and ${condition} ${order}`.execute(db)
  return rows
}
