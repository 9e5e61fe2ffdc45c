// Organizations as routes answer with them.
import Type from 'typebox'
import { ProjectView } from '#features/catalogue/projects/views.ts'
import { TeamMemberView } from '#features/community/teams/views.ts'
import { Nullable } from '#lib/schema/schema-parts.ts'
import type { OrganizationRow } from './queries.ts'

export const OrganizationView = Type.Object(
  {
    id: Type.String(),
    slug: Type.String(),
    name: Type.String(),
    description: Type.String(),
    team_id: Type.String(),
    icon_url: Nullable(Type.String()),
    raw_icon_url: Nullable(Type.String({ description: 'The image in full size' })),
    color: Nullable(Type.Integer({ description: 'RGB' })),
    members: Type.Array(TeamMemberView),
  },
  { title: 'Organization' },
)

/** The view up to its members, which depend on the viewer: a JSON object cut before the array of members. */
export function toOpenView(row: OrganizationRow): string {
  const { id, slug, name, description, team_id, icon_url, raw_icon_url, color } = row
  const json = JSON.stringify({ id, slug, name, description, team_id, icon_url, raw_icon_url, color })
  return `${json.slice(0, -1)},"members":`
}

/** What one user's organizations own, beside the projects of the user. */
export const AllProjectsView = Type.Object(
  { projects: Type.Array(ProjectView), organizations: Type.Record(Type.String(), OrganizationView) },
  { title: 'AllProjects' },
)
