// A team that is about to change: locked, with the rows of those whom the change concerns. Locks are taken in one order
// everywhere: project, organization, team rows. A team has no lock of its own: its project or organization is locked
// for it, so that neither its owner nor the organization that owns its project changes meanwhile.

import { canSeeProject, type Membership, projectPermissions } from '#features/basics/access/project-policy.ts'
import { defaultProjectPermissions, organizationPermissions } from '#features/basics/access/team-policy.ts'
import type { Viewer } from '#lib/access/viewer.ts'
import { notFound } from '#lib/errors.ts'
import type { Tx } from '#platform/db/db.ts'
import type { MemberRow } from './queries.ts'

type TeamProject = { id: string; status: string; team_id: string; organization_id: string | null }
type TeamOrganization = { id: string; team_id: string }

/** One account's rows in the team, and in the team of the organization that owns its project. */
type MemberRows = { team: MemberRow | undefined; organization: MemberRow | undefined }

export type LockedTeam = {
  teamId: string
  /** What the team is the team of. */
  subject: { project: TeamProject; owner: TeamOrganization | undefined } | { organization: TeamOrganization }
  caller: MemberRows
  target: MemberRows
  /** What the caller may do to the subject, and which project bits they may give. */
  bits: { own: number; project: number }
}

/**
 * Locks a team for a change by `viewer` that concerns `targetId`.
 * @throws ApiError 404 when there is none, or when it is the team of a project that is hidden from the viewer.
 */
export async function lockTeam(
  tx: Tx,
  viewer: Viewer,
  { teamId, targetId }: { teamId: string; targetId: string },
): Promise<LockedTeam> {
  const subject = await lockSubject(tx, teamId)
  const owner = 'project' in subject ? subject.owner : undefined
  const rows = await tx
    .selectFrom('team_member')
    .selectAll()
    .where('team_id', 'in', owner === undefined ? [teamId] : [teamId, owner.team_id])
    .where('account_id', 'in', [viewer.id, targetId])
    .execute()
  const rowOf = (accountId: string, team: string | undefined): MemberRow | undefined => {
    const row = rows.find((each) => each.account_id === accountId && each.team_id === team)
    return row === undefined ? undefined : { ...row, payouts_split: Number(row.payouts_split) }
  }
  const rowsOf = (accountId: string): MemberRows => ({
    team: rowOf(accountId, teamId),
    organization: rowOf(accountId, owner?.team_id),
  })
  const caller = rowsOf(viewer.id)
  return { teamId, subject, caller, target: rowsOf(targetId), bits: bitsOf(viewer, subject, caller) }
}

function bitsOf(viewer: Viewer, subject: LockedTeam['subject'], caller: MemberRows): LockedTeam['bits'] {
  if ('organization' in subject) {
    return {
      own: organizationPermissions(viewer, caller.team),
      project: defaultProjectPermissions(viewer, caller.team),
    }
  }
  const membership: Membership = {
    ...(caller.team === undefined ? {} : { project: caller.team }),
    ...(caller.organization === undefined ? {} : { organization: caller.organization }),
  }
  if (!canSeeProject(viewer, subject.project, membership)) throw notFound('team')
  const own = projectPermissions(viewer, membership)
  return { own, project: own }
}

async function lockSubject(tx: Tx, teamId: string): Promise<LockedTeam['subject']> {
  const project = await tx
    .selectFrom('project')
    .select(['id', 'status', 'team_id', 'organization_id'])
    .where('team_id', '=', teamId)
    .forNoKeyUpdate()
    .executeTakeFirst()
  if (project !== undefined) {
    return { project, owner: await shareOrganization(tx, project.organization_id) }
  }
  const organization = await tx
    .selectFrom('organization')
    .select(['id', 'team_id'])
    .where('team_id', '=', teamId)
    .forNoKeyUpdate()
    .executeTakeFirst()
  if (organization === undefined) throw notFound('team')
  return { organization }
}

/** Keeps an organization and its owner as they are while one of its projects changes. */
export async function shareOrganization(tx: Tx, id: string | null): Promise<TeamOrganization | undefined> {
  if (id === null) return undefined
  return tx.selectFrom('organization').select(['id', 'team_id']).where('id', '=', id).forShare().executeTakeFirst()
}
