// The project of a settings page and the viewer's permissions.

import { hasProjectPermission, type ProjectPermission } from '#features/basics/access/permissions.ts'
import { isMember, type Membership, projectPermissions } from '#features/basics/access/project-policy.ts'
import { isModerator } from '#features/basics/access/viewer.ts'
import { ProjectPatch } from '#features/catalogue/projects/edit/requests.ts'
import { updateProject } from '#features/catalogue/projects/edit/update-project.ts'
import { type CachedProject, getProjectAsMember } from '#features/catalogue/projects/lookup/project-cache.ts'
import type { ProjectView } from '#features/catalogue/projects/views.ts'
import { listCachedOrganizations } from '#features/community/organizations/organization-cache.ts'
import { notFound } from '#lib/errors.ts'
import { viewOf } from '#lib/text/json-bytes.ts'
import { checkValues } from '#web/kit/forms/read-form.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import { projectPath } from '#web/kit/paths.ts'

export type ManagedProject = {
  project: CachedProject
  view: ProjectView
  membership: Membership
  /** Permission bits of the viewer. */
  permissions: number
  /** Path of the project's public page. */
  path: string
  /** Path of the settings. */
  settings: string
  /** Name of the organization that owns the project. */
  organization: string | undefined
}

/** Returns the project of the path. @throws ApiError 404 unless the viewer is a member or a moderator */
export async function loadManagedProject({ deps, viewer, param }: OwnRequest): Promise<ManagedProject> {
  const { project, membership } = await getProjectAsMember(deps, viewer, param('slug'))
  if (!isMember(membership) && !isModerator(viewer)) throw notFound('project')
  const view = viewOf(project)
  const path = projectPath(view)
  const [organization] =
    project.organization_id === null ? [] : await listCachedOrganizations(deps, [project.organization_id])
  return {
    project,
    view,
    membership,
    permissions: projectPermissions(viewer, membership),
    path,
    settings: `${path}/settings`,
    organization: organization === undefined ? undefined : viewOf(organization).name,
  }
}

/**
 * Saves the fields that a form changed. If another user has changed the project since it was loaded, nothing is saved: the
 * form is compared again.
 */
export async function saveFields(
  { deps, viewer }: OwnRequest,
  { project, membership, view: { revision } }: ManagedProject,
  fields: unknown,
): Promise<ProjectPatch> {
  const patch = checkValues(ProjectPatch, fields)
  if (Object.keys(patch).length > 0) await updateProject(deps, viewer, { project, membership, patch, revision })
  return patch
}

/** Whether the viewer has a permission on the project. */
export const may = ({ permissions }: ManagedProject, permission: ProjectPermission): boolean =>
  hasProjectPermission(permissions, permission)
