// Locks a team, reads the rows of the caller and the target, and changes it. Every command locks in the same order:
// project, organization, team rows. Locking the project or organization of a team also keeps its owner, and the
// organization that owns the project, unchanged during the transaction.

import {
  canSeeProject,
  capMembership,
  type Membership,
  projectPermissions,
} from '#features/basics/access/project-policy.ts'
import { capMember, defaultProjectPermissions, organizationPermissions } from '#features/basics/access/team-policy.ts'
import { coversOrganization, coversProject, type Viewer } from '#features/basics/access/viewer.ts'
import type { EventKind } from '#features/basics/events/event-kinds.ts'
import { recordEvent } from '#features/basics/events/record-event.ts'
import { endLostAccess } from '#features/people/revocation/end-access.ts'
import { notFound } from '#lib/errors.ts'
import type { ChangeSet } from '#platform/cache/changes.ts'
import type { EntityCache } from '#platform/cache/entity-cache.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Db, Tx } from '#platform/db/db.ts'
import type { MemberRow } from './queries.ts'

type TeamProject = { id: string; status: string; team_id: string; organization_id: string | null }
type TeamOrganization = { id: string; team_id: string }

export type TeamDeps = { db: Db; cache: EntityCache; now: () => number }

/** One account's rows in the team, and in the team of the organization that owns its project. */
type MemberRows = { id: string; team: MemberRow | undefined; organization: MemberRow | undefined }

export type LockedTeam = {
  teamId: string
  revision: number
  /** The project or organization of the team. */
  subject: { project: TeamProject; owner: TeamOrganization | undefined } | { organization: TeamOrganization }
  caller: MemberRows
  target: MemberRows
  /** The caller's permission bits for the subject, and the project permission bits that they may grant. */
  bits: { own: number; project: number }
}

/**
 * Locks a team and changes it in one transaction, for a change by `viewer` to the member `targetId`.
 * @throws ApiError 404 if the team does not exist or belongs to a project that is hidden from the viewer.
 */
export async function changeTeam(
  deps: TeamDeps,
  viewer: Viewer,
  { teamId, targetId }: { teamId: string; targetId: string },
  change: (tx: Tx, team: LockedTeam, changed: ChangeSet) => Promise<void>,
): Promise<void> {
  await changeTeamOf(deps, viewer, { teamId, targetIds: [targetId] }, (tx, teamFor, changed) =>
    change(tx, teamFor(targetId), changed),
  )
}

/** Locks a team like `changeTeam`, for changes to several members. `teamFor` returns the team as one of them sees it. */
export async function changeTeamOf(
  deps: TeamDeps,
  viewer: Viewer,
  { teamId, targetIds }: { teamId: string; targetIds: readonly string[] },
  change: (tx: Tx, teamFor: (targetId: string) => LockedTeam, changed: ChangeSet) => Promise<void>,
): Promise<void> {
  await transaction(deps, async (tx, changed) => {
    const subject = await lockSubject(tx, teamId)
    const owner = 'project' in subject ? subject.owner : undefined
    const { revision } = await lockTeam(tx, teamId)
    const rows = await tx
      .selectFrom('team_member')
      .selectAll()
      .where('team_id', 'in', owner === undefined ? [teamId] : [teamId, owner.team_id])
      .where('account_id', 'in', [viewer.id, ...(viewer.maker === undefined ? [] : [viewer.maker]), ...targetIds])
      .execute()
    const rowOf = (accountId: string, team: string | undefined): MemberRow | undefined => {
      const row = rows.find((each) => each.account_id === accountId && each.team_id === team)
      return row === undefined ? undefined : { ...row, payouts_split: Number(row.payouts_split) }
    }
    const rowsOf = (accountId: string): MemberRows => ({
      id: accountId,
      team: rowOf(accountId, teamId),
      organization: rowOf(accountId, owner?.team_id),
    })
    const caller = coversSubject(viewer, subject)
      ? rowsOf(viewer.id)
      : { id: viewer.id, team: undefined, organization: undefined }
    const bits = bitsOf(viewer, subject, {
      caller,
      maker: viewer.maker === undefined ? undefined : rowsOf(viewer.maker),
    })
    changed.add('team', teamId)
    await change(tx, (id) => ({ teamId, revision, subject, caller, target: rowsOf(id), bits }), changed)
    await endLostAccess(tx, changed, { now: deps.now(), accountIds: targetIds })
  })
}

/** Records an event about a member of a locked team. */
export async function recordMemberEvent(
  tx: Tx,
  kind: EventKind & `member.${string}`,
  { subject }: Pick<LockedTeam, 'subject'>,
  member: { user_id: string; role: string },
): Promise<void> {
  const event =
    'project' in subject
      ? { subject: { kind: 'project', id: subject.project.id }, project_id: subject.project.id }
      : { subject: { kind: 'organization', id: subject.organization.id }, organization_id: subject.organization.id }
  const { subject: named, ...owner } = event as { subject: { kind: 'project' | 'organization'; id: string } }
  await recordEvent(tx, { kind, subject: named, ...owner, data: { ...owner, ...member } })
}

function coversSubject(viewer: Viewer, subject: LockedTeam['subject']): boolean {
  if ('organization' in subject) return coversOrganization(viewer, subject.organization.id)
  return coversProject(viewer, subject.project)
}

/** @param maker the rows of the member who created the caller's token of a service account. */
function bitsOf(
  viewer: Viewer,
  subject: LockedTeam['subject'],
  { caller, maker }: { caller: MemberRows; maker: MemberRows | undefined },
): LockedTeam['bits'] {
  if ('organization' in subject) {
    const row = maker === undefined ? caller.team : capMember(caller.team, maker.team)
    return { own: organizationPermissions(viewer, row), project: defaultProjectPermissions(viewer, row) }
  }
  const own = membershipOf(caller)
  const membership = maker === undefined ? own : capMembership(own, membershipOf(maker))
  if (!canSeeProject(viewer, subject.project, membership)) throw notFound('team')
  const bits = projectPermissions(viewer, membership)
  return { own: bits, project: bits }
}

function membershipOf({ team, organization }: MemberRows): Membership {
  return { ...(team === undefined ? {} : { project: team }), ...(organization === undefined ? {} : { organization }) }
}

/** Every change of a member raises the revision, also one that does not lock the project or organization. */
function lockTeam(tx: Tx, teamId: string): Promise<{ revision: number }> {
  return tx.selectFrom('team').select('revision').where('id', '=', teamId).forNoKeyUpdate().executeTakeFirstOrThrow()
}

async function lockSubject(tx: Tx, teamId: string): Promise<LockedTeam['subject']> {
  const project = await tx
    .selectFrom('project')
    .select(['id', 'status', 'team_id', 'organization_id'])
    .where('team_id', '=', teamId)
    .forNoKeyUpdate()
    .executeTakeFirst()
  if (project !== undefined) return { project, owner: await shareOrganization(tx, project.organization_id) }
  const organization = await tx
    .selectFrom('organization')
    .select(['id', 'team_id'])
    .where('team_id', '=', teamId)
    .forNoKeyUpdate()
    .executeTakeFirst()
  if (organization === undefined) throw notFound('team')
  return { organization }
}

/** Prevents changes to an organization and its owner while one of its projects changes. */
export async function shareOrganization(tx: Tx, id: string | null): Promise<TeamOrganization | undefined> {
  if (id === null) return undefined
  return tx.selectFrom('organization').select(['id', 'team_id']).where('id', '=', id).forShare().executeTakeFirst()
}
