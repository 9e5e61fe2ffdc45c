import { markInvitationsRead } from '#features/people/notifications/queries.ts'
import type { Viewer } from '#lib/access/viewer.ts'
import { invalidInput, notFound } from '#lib/errors.ts'
import { recordEvent } from '#platform/telemetry/events.ts'
import type { Deps } from '#ports/deps.ts'
import { changeTeam } from './change-team.ts'

/**
 * Accepts the caller's pending invitation.
 * @throws ApiError 404 if the caller is not invited, 400 if they are already a member.
 */
export async function joinTeam(
  deps: Pick<Deps, 'db' | 'cache' | 'log' | 'metrics'>,
  viewer: Viewer,
  teamId: string,
): Promise<void> {
  await changeTeam(deps, viewer, { teamId, targetId: viewer.id }, async (tx, { caller }) => {
    if (caller.team === undefined) throw notFound('invitation')
    if (caller.team.accepted) throw invalidInput('You are already a member of this team')
    await tx
      .updateTable('team_member')
      .set({ accepted: true })
      .where('team_id', '=', teamId)
      .where('account_id', '=', viewer.id)
      .execute()
    await markInvitationsRead(tx, [caller.team])
  })
  recordEvent(deps, 'member.joined', { team_id: teamId })
}
