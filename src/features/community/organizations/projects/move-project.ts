// Steps that every change of a project's owning organization shares.
import { sql } from 'kysely'
import { findMembership } from '#features/basics/access/memberships.ts'
import { canSeeProject, type Membership, type ProjectFacts } from '#features/basics/access/project-policy.ts'
import type { Viewer } from '#lib/access/viewer.ts'
import type { ApiError } from '#lib/errors.ts'
import type { ChangeSet } from '#platform/cache/changes.ts'
import type { Tx } from '#platform/db/db.ts'
import { listVersionIdsOfProjects } from '../queries.ts'

/** Adds everything that a change of owner affects to the change set: the projects, their teams and their versions. */
export async function addMovedProjects(
  tx: Tx,
  changed: ChangeSet,
  projects: readonly { id: string; team_id: string }[],
): Promise<void> {
  const projectIds = projects.map(({ id }) => id)
  const versionIds = await listVersionIdsOfProjects(tx, projectIds)
  changed.add('project', ...projectIds)
  changed.add('team', ...projects.map(({ team_id }) => team_id))
  changed.addEach('version', versionIds)
}

type VisibleProject = { project: ProjectFacts; membership: Membership }

/** Locks the project with this ID or slug. @throws the error of `absent` if the project is absent or hidden. */
export async function lockVisibleProject(
  tx: Tx,
  viewer: Viewer,
  name: string,
  absent: () => ApiError,
): Promise<VisibleProject> {
  const project = await tx
    .selectFrom('project')
    .select(['id', 'status', 'team_id', 'organization_id'])
    .where((eb) => eb.or([eb('id', '=', name), eb('slug', '=', name.toLowerCase())]))
    .orderBy(sql`(id = ${name})`, 'desc')
    .limit(1)
    .forNoKeyUpdate()
    .executeTakeFirst()
  if (project === undefined) throw absent()
  const membership = await findMembership(tx, viewer.id, project)
  if (!canSeeProject(viewer, project, membership)) throw absent()
  return { project, membership }
}
