// Counts what a user loses with the account, and what remains of it, for the page that offers the deletion.
import { sql } from 'kysely'
import { getBalance } from '#features/people/payouts/queries.ts'
import { parseUnits } from '#lib/decimal.ts'
import type { Db } from '#platform/db/db.ts'
import type { Deps } from '#ports/deps.ts'

export type BelongingCounts = Record<
  'projects' | 'reviewing' | 'organizations' | 'collections' | 'follows' | 'sessions' | 'tokens' | 'reports',
  number
>

export type DeletionConsequences = BelongingCounts & {
  /** Undefined if nothing was earned. */
  balance: { available: string; pending: string } | undefined
}

export async function loadDeletionConsequences(
  { db, now }: Pick<Deps, 'db' | 'now'>,
  accountId: string,
): Promise<DeletionConsequences> {
  const at = new Date(now())
  const { rows } = await sql<BelongingCounts>`select
    (select count(*) from team_member join project using (team_id) where account_id = ${accountId} and is_owner)
      as projects,
    (select count(*) from team_member join project using (team_id)
      where account_id = ${accountId} and is_owner and project.status = 'processing') as reviewing,
    (select count(*) from team_member join organization using (team_id) where account_id = ${accountId} and is_owner)
      as organizations,
    (select count(*) from collection where account_id = ${accountId}) as collections,
    (select count(*) from follow where account_id = ${accountId}) as follows,
    (select count(*) from session where account_id = ${accountId} and expires > ${at}) as sessions,
    (select count(*) from personal_access_token where account_id = ${accountId}) as tokens,
    (select count(*) from report where reporter_id = ${accountId}) as reports`.execute(db)
  const [counts] = rows
  if (counts === undefined) throw new Error('unreachable: a select without a table returns a row')
  const { available, pending } = await getBalance(db, accountId, now())
  const isZero = parseUnits(available) === 0n && parseUnits(pending) === 0n
  return { ...counts, balance: isZero ? undefined : { available, pending } }
}

/** Maximum number of names in each list of a preview. */
const NAMES_MAX = 20

/** Returns the names of the oldest projects and organizations that an account owns, at most 20 of each. */
export async function listOwnedNames(
  db: Db,
  accountId: string,
): Promise<{ projects: string[]; organizations: string[] }> {
  const namesIn = (table: 'project' | 'organization', column: 'published' | 'created') => sql<string[]>`array(
    select owned.name from team_member join ${sql.table(table)} owned using (team_id)
    where account_id = ${accountId} and is_owner order by owned.${sql.ref(column)}, owned.id limit ${NAMES_MAX})`
  const { rows } = await sql<{ projects: string[]; organizations: string[] }>`
    select ${namesIn('project', 'published')} as projects, ${namesIn('organization', 'created')} as organizations`.execute(
    db,
  )
  return rows[0] ?? { projects: [], organizations: [] }
}
