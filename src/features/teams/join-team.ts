import type { ChangeSet } from '#cache/changes.ts'
import type { Tx } from '#db/db.ts'
import { markInvitationsRead } from '#features/notifications/queries.ts'
import { invalidInput, notFound } from '#lib/errors.ts'
import type { Viewer } from '#lib/viewer.ts'
import { lockScene } from './lock-team.ts'

/**
 * Accepts the caller's pending invitation. Of two acceptances at once the second finds a member.
 * @throws ApiError 404 when he is not invited, 400 when he is a member.
 */
export async function joinTeam(tx: Tx, changed: ChangeSet, viewer: Viewer, teamId: string): Promise<void> {
  const { caller } = await lockScene(tx, viewer, teamId, viewer.id)
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
}
