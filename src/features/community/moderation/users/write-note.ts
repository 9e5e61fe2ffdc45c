import type { Viewer } from '#features/basics/access/viewer.ts'
import { ApiError } from '#lib/errors.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'
import { getNote, type NoteRow } from './queries.ts'
import type { NoteInput } from './requests.ts'
import { toNoteView } from './views.ts'

/**
 * Writes the note of all moderators about a user.
 * @throws ApiError `conflict` with the current note if another moderator has changed it since `revision`.
 */
export function writeNote(
  deps: Pick<Deps, 'db' | 'cache' | 'now'>,
  viewer: Viewer,
  { accountId, note }: { accountId: string; note: NoteInput },
): Promise<NoteRow> {
  return transaction(deps, async (tx) => {
    const { body, revision } = note
    const row = { body, author_id: viewer.id, updated: new Date(deps.now()) }
    const written =
      revision === 0
        ? await tx
            .insertInto('user_note')
            .values({ account_id: accountId, ...row })
            .onConflict((conflict) => conflict.doNothing())
            .returning('revision')
            .executeTakeFirst()
        : await tx
            .updateTable('user_note')
            .set((eb) => ({ ...row, revision: eb('revision', '+', 1) }))
            .where('account_id', '=', accountId)
            .where('revision', '=', revision)
            .returning('revision')
            .executeTakeFirst()
    const current = await getNote(tx, accountId)
    if (written === undefined) {
      throw new ApiError('conflict', 'Another moderator has changed this note. Nothing was saved.', {
        details: { current: toNoteView(current) },
      })
    }
    return current
  })
}
