// Finds projects whose name or icon is similar. The keys that are compared are in `project_likeness`.
import { sql } from 'kysely'
import { listedFor, visibleTo } from '#features/basics/access/project-policy.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import type { Db } from '#platform/db/db.ts'
import type { SimilarRow } from './views.ts'

const SIMILAR_MAX = 10
/** Number of bits, of 64, in which the hashes of similar icons differ at most. */
const ICON_BITS_MAX = 8
/** Candidates of each kind, so that a name of common words does not read the whole catalogue. */
const CANDIDATES_MAX = 500

export type Likeness = {
  name: string
  /** Project to which the name belongs: its icon is compared, and it is not in the result. */
  projectId?: string | undefined
}

/**
 * Returns the listed projects that are similar, and those of which the viewer is a member; moderators get every project.
 * Most similar first: by letters, by icon, by the share of common words, then by downloads.
 */
export async function listSimilarProjects(
  db: Db,
  viewer: Viewer,
  { name, projectId = '' }: Likeness,
): Promise<SimilarRow[]> {
  const { rows } = await sql<SimilarRow>`
    with wanted as materialized (
      select name_letters(${name}) as letters, name_words(${name}) as words,
        (select icon from project_likeness join project on project.id = project_id
          where project_id = ${projectId} and ${visibleTo(viewer)}) as icon
    ), candidate as (
      (select project_id from project_likeness where letters && (select letters from wanted) limit ${CANDIDATES_MAX})
      union
      (select project_id from project_likeness where words @> (select words from wanted)
        and (select words from wanted) <> '{}' limit ${CANDIDATES_MAX})
      union
      (select project_id from project_likeness where words <@ (select words from wanted) and words <> '{}'
        limit ${CANDIDATES_MAX})
      union
      (select project_id from project_likeness where icon is not null
        and bit_count(icon # (select icon from wanted)) <= ${ICON_BITS_MAX} limit ${CANDIDATES_MAX})
    ), hit as (
      select project.id, project.slug, project.name, project.icon_url, project.downloads, project.draft_type,
        project.team_id, project.organization_id, coalesce(likeness.letters && wanted.letters, false) as has_letters,
        coalesce(likeness.words <> '{}' and wanted.words <> '{}'
          and (likeness.words @> wanted.words or likeness.words <@ wanted.words), false) as has_words,
        coalesce(bit_count(likeness.icon # wanted.icon) <= ${ICON_BITS_MAX}, false) as has_icon,
        abs(cardinality(likeness.words) - cardinality(wanted.words)) as other_words
      from candidate join project on project.id = candidate.project_id
        join project_likeness likeness on likeness.project_id = project.id, wanted
      where project.id <> ${projectId} and ${listedFor(viewer)}
      order by has_letters desc, has_icon desc, other_words, project.downloads desc, project.id limit ${SIMILAR_MAX}
    )
    select id, slug, name, icon_url, downloads, draft_type, has_letters as letters, has_words as words, has_icon as icon,
      (select array_agg(distinct loader) from version, unnest(version.loaders) loader
        where version.project_id = hit.id and is_listed(version.status)) as loaders,
      coalesce(
        (select jsonb_build_object('kind', 'organization', 'id', organization.id, 'name', organization.name)
          from organization where organization.id = hit.organization_id),
        (select jsonb_build_object('kind', 'user', 'id', account.id, 'name', account.username)
          from team_member join account on account.id = team_member.account_id
          where team_member.team_id = hit.team_id and team_member.is_owner)) as ownership
    from hit order by has_letters desc, has_icon desc, other_words, downloads desc, id`.execute(db)
  return rows
}
