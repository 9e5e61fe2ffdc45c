// Statements for advisories.
import { type Selectable, sql } from 'kysely'
import type { Db, Tx } from '#platform/db/db.ts'
import { positionOfTime } from '#platform/db/list-position.ts'
import type { Advisory } from '#platform/db/schema.ts'
import { type AdvisoryStatus, type Since, STATUSES } from './requests.ts'

/** Advisories per hash in a match, the newest first. */
const PER_HASH_MAX = 20

export type AdvisoryRow = Selectable<Advisory> & {
  position: number
  versions: { id: string; name: string }[]
  hashes: string[]
}

function selectAdvisories(db: Db) {
  return db
    .selectFrom('advisory')
    .selectAll('advisory')
    .select([
      positionOfTime(sql.ref('advisory.modified')).as('position'),
      sql<AdvisoryRow['versions']>`coalesce((select jsonb_agg(jsonb_build_object('id', version_id, 'name', name)
        order by version_id) from advisory_version where advisory_id = advisory.id), '[]')`.as('versions'),
      sql<
        string[]
      >`array(select hash from advisory_hash where advisory_id = advisory.id order by length(hash), hash)`.as('hashes'),
    ])
}

export async function findAdvisory(db: Db, id: string): Promise<AdvisoryRow | undefined> {
  return selectAdvisories(db).where('advisory.id', '=', id).executeTakeFirst()
}

/** Locks the advisory until the end of the transaction. */
export async function lockAdvisory(tx: Tx, id: string): Promise<AdvisoryRow | undefined> {
  await tx.selectFrom('advisory').select('id').where('id', '=', id).forUpdate().execute()
  return findAdvisory(tx, id)
}

export type AdvisoryFilter = {
  projectId?: string | undefined
  since?: Since | undefined
  status: 'public' | 'review'
  limit: number
}

/** In the order of their last change, the oldest first. */
export async function listAdvisories(
  db: Db,
  { projectId, since, status, limit }: AdvisoryFilter,
): Promise<AdvisoryRow[]> {
  let query = selectAdvisories(db)
    .where(
      status === 'public'
        ? sql<boolean>`is_public_advisory(advisory.status)`
        : sql<boolean>`advisory.status = 'review'`,
    )
    .orderBy('advisory.modified')
    .orderBy('advisory.id')
    .limit(limit)
  if (projectId !== undefined) query = query.where('advisory.project_id', '=', projectId)
  if (since !== undefined) {
    query =
      'at' in since
        ? query.where('advisory.modified', '>=', since.at)
        : query.where(
            sql<boolean>`(advisory.modified, advisory.id) >
              (timestamptz 'epoch' + ${since.position}::bigint * interval '1 microsecond', ${since.id}::text collate "C")`,
          )
  }
  return query.execute()
}

/** Returns the published advisories of each hash. Runs two statements. */
export async function matchAdvisories(db: Db, hashes: readonly string[]): Promise<Map<string, AdvisoryRow[]>> {
  const { rows } = await sql<{ hash: string; id: string }>`select wanted.hash, found.id
    from unnest(${[...hashes]}::text[]) as wanted (hash), lateral (
      select advisory.id from advisory_hash join advisory on advisory.id = advisory_hash.advisory_id
      where advisory_hash.hash = wanted.hash collate "C" and advisory.status = 'published'
      order by advisory.modified desc, advisory.id limit ${PER_HASH_MAX}) found`.execute(db)
  const ids = [...new Set(rows.map(({ id }) => id))]
  const known = new Map<string, AdvisoryRow>()
  if (ids.length > 0) {
    const found = await selectAdvisories(db).where('advisory.id', 'in', ids).execute()
    for (const row of found) known.set(row.id, row)
  }
  const matches = new Map<string, AdvisoryRow[]>()
  for (const { hash, id } of rows) {
    const row = known.get(id)
    if (row !== undefined) matches.set(hash, [...(matches.get(hash) ?? []), row])
  }
  return matches
}

/** Returns the next ID of the year. Transactions that create advisories at the same time wait for each other. */
export async function nextAdvisoryId(tx: Tx, year: number): Promise<string> {
  const { last } = await tx
    .insertInto('advisory_number')
    .values({ year, last: 1 })
    .onConflict((conflict) => conflict.column('year').doUpdateSet({ last: sql`advisory_number.last + 1` }))
    .returning('last')
    .executeTakeFirstOrThrow()
  return `x_DEPOT-${year}-${`${last}`.padStart(4, '0')}`
}

/** Adds the versions under their names in Maven metadata, where a number names the version that got it first. */
export async function insertAdvisoryVersions(
  tx: Tx,
  { id, versionIds }: { id: string; versionIds: readonly string[] },
): Promise<void> {
  const affected = sql`(select unnest(${[...versionIds]}::text[]))`
  await sql`insert into advisory_version (advisory_id, version_id, name)
    select ${id}, version.id,
      case when coalesce(claim.version_id, version.id) = version.id then version.version_number else version.id end
    from version left join version_coordinate claim
      on claim.project_id = version.project_id and claim.version_number = version.version_number
    where version.id in ${affected}`.execute(tx)
  await sql`insert into advisory_hash (advisory_id, hash)
    select ${id}, sum.hash from file, unnest(array[file.sha1, file.sha512]) as sum (hash)
    where file.version_id in ${affected} on conflict do nothing`.execute(tx)
}

export async function insertAdvisoryHashes(tx: Tx, id: string, hashes: readonly string[]): Promise<void> {
  await sql`insert into advisory_hash (advisory_id, hash) select ${id}, unnest(${[...hashes]}::text[])
    on conflict do nothing`.execute(tx)
}

export type AdvisoryPage = { status: AdvisoryStatus; projectId?: string | undefined; count: number; offset: number }

/** Returns a page of the advisories with a status: in review the oldest first, otherwise the newest first. */
export async function listAdvisoryPage(
  db: Db,
  { status, projectId, count, offset }: AdvisoryPage,
): Promise<AdvisoryRow[]> {
  const direction = status === 'review' ? 'asc' : 'desc'
  let query = selectAdvisories(db)
    .where('advisory.status', '=', status)
    .orderBy('advisory.modified', direction)
    .orderBy('advisory.id', direction)
    .limit(count)
    .offset(offset)
  // The index of public advisories has this condition.
  if (status === 'published' || status === 'withdrawn')
    query = query.where(sql<boolean>`is_public_advisory(advisory.status)`)
  if (projectId !== undefined) query = query.where('advisory.project_id', '=', projectId)
  return query.execute()
}

/** Returns the advisories of a project with any status, the most recently changed first. */
export async function listProjectAdvisories(db: Db, projectId: string, limit: number): Promise<AdvisoryRow[]> {
  return selectAdvisories(db)
    .where('advisory.project_id', '=', projectId)
    .orderBy('advisory.modified', 'desc')
    .orderBy('advisory.id', 'desc')
    .limit(limit)
    .execute()
}

/** Returns the number of advisories by status. */
export async function countAdvisories(db: Db): Promise<Record<AdvisoryStatus, number>> {
  const rows = await db
    .selectFrom('advisory')
    .select((eb) => ['status', eb.fn.countAll<number>().as('count')])
    .groupBy('status')
    .execute()
  const counts = new Map(rows.map(({ status, count }) => [status, Number(count)]))
  return Object.fromEntries(STATUSES.map((status) => [status, counts.get(status) ?? 0])) as Record<
    AdvisoryStatus,
    number
  >
}

export async function countAdvisoriesInReview(tx: Tx, projectId: string): Promise<number> {
  const { count } = await tx
    .selectFrom('advisory')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('project_id', '=', projectId)
    .where('status', '=', 'review')
    .executeTakeFirstOrThrow()
  return Number(count)
}
