// Response schemas of organizations.
import Type, { type Static } from 'typebox'
import { type FilesConfig, withIconUrls } from '#features/basics/images/hosted-image.ts'
import { ProjectView } from '#features/catalogue/projects/views.ts'
import { TeamMemberView } from '#features/community/teams/views.ts'
import { NamedObject, Nullable, Revision } from '#lib/schema/schema-parts.ts'
import type { OrganizationRow } from './queries.ts'

export const OrganizationView = NamedObject('Organization', {
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
})

export type OrganizationView = Static<typeof OrganizationView>

/** The view without what depends on the viewer and on the team. */
export type OpenOrganization = Omit<OrganizationView, 'members' | 'revision'>

export function toOpenView(row: OrganizationRow, config: FilesConfig): OpenOrganization {
  const { id, slug, name, description, team_id, icon_url, raw_icon_url, color } = withIconUrls(config, row)
  return { id, slug, name, description, team_id, icon_url, raw_icon_url, color }
}

/** The projects of a user and of their organizations. */
export const AllProjectsView = NamedObject('AllProjects', {
  projects: Type.Array(ProjectView),
  organizations: Type.Record(Type.String(), OrganizationView),
})
