// Contents that moderators blocked: nobody can upload them, and only moderators can download them.
import { type Expression, type SqlBool, sql } from 'kysely'
import { invalidInput } from '#lib/errors.ts'
import type { Tx } from '#platform/db/db.ts'

/** Condition on a row of `file`: its content is not blocked. */
export const isNotBlocked = (): Expression<SqlBool> =>
  sql<SqlBool>`not exists (select from blocked_content where blocked_content.sha512 = file.sha512)`

/** Returns those of the hashes that are blocked. */
export async function listBlocked(db: Pick<Tx, 'selectFrom'>, sha512s: readonly string[]): Promise<Set<string>> {
  if (sha512s.length === 0) return new Set()
  const rows = await db.selectFrom('blocked_content').select('sha512').where('sha512', 'in', sha512s).execute()
  return new Set(rows.map(({ sha512 }) => sha512))
}

/** @throws ApiError `invalid_input` naming the field of the first file whose content is blocked */
export async function requireUnblocked(
  tx: Tx,
  files: readonly { sha512: string; filename: string; field: string }[],
): Promise<void> {
  const blocked = await listBlocked(
    tx,
    files.map(({ sha512 }) => sha512),
  )
  const first = files.find(({ sha512 }) => blocked.has(sha512))
  if (first === undefined) return
  throw invalidInput(`The moderators of this instance blocked the file ${first.filename}`, first.field)
}
