// Response schemas of organizations.
import Type from 'typebox'
import { type FilesConfig, withIconUrls } from '#features/basics/images/hosted-image.ts'
import { ProjectView } from '#features/catalogue/projects/views.ts'
import { TeamMemberView } from '#features/community/teams/views.ts'
import { Nullable, Revision } from '#lib/schema/schema-parts.ts'
import type { OrganizationRow } from './queries.ts'

export const OrganizationView = Type.Object(
  {
    id: Type.String(),
    slug: Type.String(),
    name: Type.String(),
    description: Type.String(),
    team_id: Type.String(),
    icon_url: Nullable(Type.String()),
    raw_icon_url: Nullable(Type.String({ description: 'URL of the icon in full size' })),
    color: Nullable(Type.Integer({ description: 'Main colour of the icon, as RGB' })),
    members: Type.Array(TeamMemberView),
    revision: Revision('organization', '. Changes of its members raise it too, changes of `user` do not'),
  },
  { title: 'Organization' },
)

/** Returns the JSON of the view up to the array of members, which depends on the viewer. */
export function toOpenView(row: OrganizationRow, config: FilesConfig): string {
  const { id, slug, name, description, team_id, icon_url, raw_icon_url, color } = withIconUrls(config, row)
  const json = JSON.stringify({ id, slug, name, description, team_id, icon_url, raw_icon_url, color })
  return `${json.slice(0, -1)},"members":`
}

/** The projects of a user and of their organizations. */
export const AllProjectsView = Type.Object(
  { projects: Type.Array(ProjectView), organizations: Type.Record(Type.String(), OrganizationView) },
  { title: 'AllProjects' },
)
