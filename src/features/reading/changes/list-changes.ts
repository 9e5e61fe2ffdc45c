// A page of the change feed.
import { ApiError } from '#lib/errors.ts'
import type { Deps } from '#ports/deps.ts'
import { type Cursor, formatCursor } from './cursor.ts'
import { type Head, numberChanges, readChanges } from './queries.ts'
import type { ChangeKind } from './requests.ts'
import { type ChangesView, toChangeView } from './views.ts'

export const CHANGES_PATH = '/v3/changes'

/** Reasons why a cursor cannot be continued. */
export type Expiry = 'epoch' | 'ahead' | 'forgotten'

const REASONS: Readonly<Record<Expiry, string>> = {
  epoch: 'The cursor belongs to another instance, or this instance was restored',
  ahead: 'The cursor is ahead of this instance',
  forgotten: 'Removals since this cursor were deleted from the feed',
}

/** A page assigns at most this many batches of numbers; the rest follows with the next page. */
const BATCHES_MAX = 5

/**
 * Returns the changes after a cursor, each object once, in the order of the commits. Every change that was committed before
 * the call is in this page or in one of the next, until `more` is false.
 * @throws ApiError `cursor_expired` if the cursor cannot be continued.
 */
export async function listChanges(
  { db }: Pick<Deps, 'db'>,
  { since, kinds, limit }: { since: Cursor | undefined; kinds: readonly ChangeKind[]; limit: number },
): Promise<ChangesView> {
  for (let batch = 0; batch < BATCHES_MAX && (await numberChanges(db)); batch += 1);
  const { head, rows, hasNotes } = await readChanges(db, { since, kinds, limit: limit + 1 })
  if (since !== undefined) requireValid(since, head)
  const { epoch } = head
  const last = BigInt(head.last)
  const walkedFrom = since === undefined ? last : since.walkedFrom
  const page = rows.slice(0, limit)
  const changes = page.map((row) => toChangeView(row, epoch, walkedFrom))
  const latest = formatCursor({ epoch, number: last })
  const isCut = rows.length > limit
  return { changes, next: isCut ? (changes.at(-1)?.cursor ?? latest) : latest, more: isCut || hasNotes, latest }
}

/** @throws ApiError `cursor_expired` */
function requireValid(cursor: Cursor, head: Head): void {
  const reason = expiryOf(cursor, head)
  if (reason === undefined) return
  throw new ApiError('cursor_expired', `${REASONS[reason]}. Start again without \`since\`.`, {
    details: { reason, start: CHANGES_PATH },
  })
}

/** During a walk from the start, removals from before the walk do not matter. */
function expiryOf({ epoch, number, walkedFrom = number }: Cursor, head: Head): Expiry | undefined {
  if (epoch !== head.epoch) return 'epoch'
  if (number > BigInt(head.last) || walkedFrom > BigInt(head.last)) return 'ahead'
  return (number > walkedFrom ? number : walkedFrom) < BigInt(head.forgotten) ? 'forgotten' : undefined
}
