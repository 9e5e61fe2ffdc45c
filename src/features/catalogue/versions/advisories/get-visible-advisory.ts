// Reads an advisory for a viewer.
import { findMembership } from '#features/basics/access/memberships.ts'
import type { Membership } from '#features/basics/access/project-policy.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { findProject, type ProjectReader } from '#features/catalogue/projects/lookup/project-cache.ts'
import { notFound } from '#lib/errors.ts'
import { canSeeAdvisory } from './policy.ts'
import { type AdvisoryRow, findAdvisory } from './queries.ts'
import { isAdvisoryId } from './requests.ts'

/** Returns the advisory. @throws ApiError 404 if it does not exist or the viewer may not see it */
export async function getVisibleAdvisory(
  reader: ProjectReader,
  viewer: Viewer | null,
  id: string,
): Promise<AdvisoryRow> {
  const row = isAdvisoryId(id) ? await findAdvisory(reader.db, id) : undefined
  if (row === undefined || !canSeeAdvisory(viewer, row, await membershipOf(reader, viewer, row)))
    throw notFound('advisory')
  return row
}

async function membershipOf(
  reader: ProjectReader,
  viewer: Viewer | null,
  { project_id }: AdvisoryRow,
): Promise<Membership> {
  if (viewer === null || project_id === null) return {}
  const project = await findProject(reader, project_id)
  return project === undefined ? {} : findMembership(reader.db, viewer, project)
}
