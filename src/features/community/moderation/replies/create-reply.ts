// Creates, edits, deletes and orders the saved replies of the instance.
import { sql } from 'kysely'
import { ApiError, notFound } from '#lib/errors.ts'
import { newId } from '#lib/ids.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Db, Tx } from '#platform/db/db.ts'
import type { Deps } from '#ports/deps.ts'
import type { ReplyRow } from './queries.ts'
import { type NewReply, REPLIES_MAX, type ReplyPatch } from './requests.ts'
import { STARTER_REPLIES } from './starter-replies.ts'

type ReplyDeps = Pick<Deps, 'db' | 'cache' | 'now'>

/** Creates a reply at the end of the list. @throws ApiError `limit_reached` */
export async function createReply(deps: ReplyDeps, fields: NewReply): Promise<ReplyRow> {
  return transaction(deps, async (tx) => {
    const positions = await lockReplies(tx)
    if (positions.length >= REPLIES_MAX)
      throw new ApiError('limit_reached', `This instance has reached its limit for saved replies (${REPLIES_MAX})`)
    const now = new Date(deps.now())
    const position = Math.max(0, ...positions.map((row) => row.position)) + 1
    return tx
      .insertInto('saved_reply')
      .values({ id: newId(), ...fields, position, created: now, updated: now })
      .returningAll()
      .executeTakeFirstOrThrow()
  })
}

/**
 * Adds the replies with which an instance can begin, except those whose language and title exist. Returns their number.
 * @throws ApiError `limit_reached`; nothing is added
 */
export async function addStarterReplies(deps: ReplyDeps): Promise<number> {
  return transaction(deps, async (tx) => {
    const positions = await lockReplies(tx)
    const known = await tx.selectFrom('saved_reply').select(['language', 'title']).execute()
    const names = new Set(known.map(({ language, title }) => `${language} ${title}`))
    const missing = STARTER_REPLIES.filter(({ language, title }) => !names.has(`${language} ${title}`))
    if (positions.length + missing.length > REPLIES_MAX)
      throw new ApiError(
        'limit_reached',
        `This instance can have at most ${REPLIES_MAX} saved replies. Nothing was added.`,
      )
    if (missing.length === 0) return 0
    const now = new Date(deps.now())
    const last = Math.max(0, ...positions.map((row) => row.position))
    const rows = missing.map((fields, index) => ({
      id: newId(),
      ...fields,
      position: last + index + 1,
      created: now,
      updated: now,
    }))
    await tx.insertInto('saved_reply').values(rows).execute()
    return missing.length
  })
}

/** Edits a reply. @throws ApiError 404 */
export async function updateReply({ db, now }: Pick<Deps, 'db' | 'now'>, id: string, patch: ReplyPatch): Promise<void> {
  const { numUpdatedRows } = await db
    .updateTable('saved_reply')
    .set({ ...patch, updated: new Date(now()) })
    .where('id', '=', id)
    .executeTakeFirst()
  if (numUpdatedRows === 0n) throw notFound('saved reply')
}

/** @throws ApiError 404 */
export async function deleteReply(db: Db, id: string): Promise<void> {
  const { numDeletedRows } = await db.deleteFrom('saved_reply').where('id', '=', id).executeTakeFirst()
  if (numDeletedRows === 0n) throw notFound('saved reply')
}

/** Sets the order of all replies. @throws ApiError `conflict` if `ids` are not the IDs of exactly the current replies. */
export async function orderReplies(deps: Pick<Deps, 'db' | 'cache'>, ids: readonly string[]): Promise<void> {
  await transaction(deps, async (tx) => {
    const current = (await lockReplies(tx)).map(({ id }) => id)
    const wanted = new Set(ids)
    if (current.length !== wanted.size || !current.every((id) => wanted.has(id))) {
      throw new ApiError('conflict', 'Another moderator has added or deleted a saved reply. Nothing was changed.', {
        details: { current },
      })
    }
    await sql`update saved_reply set position = ordered.position
      from unnest(${[...ids]}::text[]) with ordinality as ordered (id, position)
      where saved_reply.id = ordered.id`.execute(tx)
  })
}

/** Locks the list until the transaction ends, so that concurrent changes exceed no limit and lose no reply. */
async function lockReplies(tx: Tx): Promise<{ id: string; position: number }[]> {
  await sql`lock table saved_reply in share row exclusive mode`.execute(tx)
  return tx.selectFrom('saved_reply').select(['id', 'position']).orderBy('position').orderBy('id').execute()
}
