import { markInvitationsRead } from '#features/people/notifications/queries.ts'
import type { Viewer } from '#lib/access/viewer.ts'
import { invalidInput, notFound } from '#lib/errors.ts'
import { transaction } from '#platform/cache/transaction.ts'
import { recordEvent } from '#platform/telemetry/events.ts'
import type { Deps } from '#ports/deps.ts'
import { lockTeam } from './lock-team.ts'

/**
 * Accepts the caller's pending invitation. Of two acceptances at once the second finds a member.
 * @throws ApiError 404 for a caller who is not invited, 400 for a member.
 */
export async function joinTeam(
  deps: Pick<Deps, 'db' | 'cache' | 'log' | 'metrics'>,
  viewer: Viewer,
  teamId: string,
): Promise<void> {
  await transaction(deps, async (tx, changed) => {
    const { caller } = await lockTeam(tx, viewer, { teamId, targetId: viewer.id })
    if (caller.team === undefined) throw notFound('invitation')
    if (caller.team.accepted) throw invalidInput('You are a member of this team already')
    await tx
      .updateTable('team_member')
      .set({ accepted: true })
      .where('team_id', '=', teamId)
      .where('account_id', '=', viewer.id)
      .execute()
    changed.add('team', teamId)
    await markInvitationsRead(tx, [caller.team])
  })
  recordEvent(deps, 'member.joined', { team_id: teamId })
}
