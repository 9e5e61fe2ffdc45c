// The change feed: the cost of its entries for writers, and a page of it at 1,000,000 entries. node bench/main.ts changes
import { sql } from 'kysely'
import { listChanges } from '#features/operations/changes/list-changes.ts'
import { CHANGE_KINDS } from '#features/operations/changes/requests.ts'
import { createDb, createPool, type Db } from '#platform/db/db.ts'
import { migrate } from '#platform/db/migrate.ts'
import { withPostgres } from './kit/own-postgres.ts'
import { figure, type Row, row } from './kit/table.ts'
import { once, time } from './kit/timing.ts'

/** The first round warms up. */
const ROUNDS = 8
const WRITES = 300
const ENTRIES = 1_000_000

export function benchChanges(): Promise<Row[]> {
  return withPostgres(async (connectionString) => {
    const pool = createPool({ connectionString }, { max: 4, applicationName: 'depot-bench' })
    try {
      await migrate(pool)
      const db = createDb(pool)
      await sql`insert into team (id) values ('team')`.execute(db)
      await sql`insert into project (id, slug, name, summary, description, license, status, team_id)
        values ('project', 'project', 'Project', 'A project for a benchmark', '', 'MIT', 'approved', 'team')`.execute(
        db,
      )
      return [...(await writes(db)), ...(await pages(db))]
    } finally {
      await pool.end()
    }
  })
}

/** Commits one after another, with the triggers of the feed and without, in turn. */
async function writes(db: Db): Promise<Row[]> {
  const ratios: number[] = []
  const update = (n: number) => sql`update project set name = ${`Project ${n}`} where id = 'project'`.execute(db)
  const run = async (isNoted: boolean, round: number): Promise<number> => {
    const state = sql.raw(isNoted ? 'enable' : 'disable')
    await sql`alter table project ${state} trigger feed_project_updated`.execute(db)
    await listAll(db)
    return once(async () => {
      for (let n = 0; n < WRITES; n += 1) await update(round * WRITES + n)
    })
  }
  for (let round = 0; round < ROUNDS; round += 1) {
    const [noted, silent] = [await run(true, 2 * round), await run(false, 2 * round + 1)]
    if (round > 0) ratios.push(noted / silent)
  }
  ratios.sort((a, b) => a - b)
  const spread = `${ratios[0]?.toFixed(2)} to ${ratios.at(-1)?.toFixed(2)} in ${ratios.length} rounds`
  await sql`alter table project enable trigger feed_project_updated`.execute(db)
  await sql`update project set name = 'Fresh' where id = 'project'`.execute(db)
  const visible = await once(() => listAll(db))
  return [
    row('a write with its entry, of one without', ratios[ratios.length >> 1] ?? 0, { atMost: 1.1 }, ' times', spread),
    figure('from the commit to a response that contains it', `${visible.toFixed(1)} ms`),
  ]
}

const listAll = (db: Db) => listChanges({ db }, { since: undefined, kinds: CHANGE_KINDS, limit: 1 })

async function pages(db: Db): Promise<Row[]> {
  const page = (kinds: readonly (typeof CHANGE_KINDS)[number][], number: bigint) => async () => {
    const { epoch } = await sql<{ epoch: string }>`select epoch from public_change_head`
      .execute(db)
      .then(({ rows }) => rows[0] ?? { epoch: '' })
    const found = await listChanges({ db }, { since: { epoch, number }, kinds, limit: 1000 })
    if (found.changes.length !== 1000) throw new Error(`A page has ${found.changes.length} changes`)
  }
  await fill(db, 10_000)
  const small = await time(30, page(CHANGE_KINDS, 2_000n))
  await fill(db, ENTRIES)
  const large = await time(30, page(CHANGE_KINDS, BigInt(ENTRIES / 2)))
  const rare = await time(30, page(['collection'], 0n))
  const detail = `median ${large.p50.toFixed(1)} and ${small.p50.toFixed(1)} ms`
  return [
    row(
      'a page of 1,000 at 1,000,000 entries, of one at 10,000',
      large.p50 / small.p50,
      { atMost: 1.5 },
      ' times',
      detail,
    ),
    figure('a page of 1,000 of a kind that 2 % have, at 1,000,000', `${rare.p50.toFixed(1)} ms`),
  ]
}

/** Fills the feed: 20 % projects, 2 % collections, otherwise versions. */
async function fill(db: Db, count: number): Promise<void> {
  await sql`delete from public_change`.execute(db)
  await sql`insert into public_change (kind, subject_id, number, is_present, revision, changed)
    select case when n % 50 = 0 then 'collection' when n % 5 = 1 then 'project' else 'version' end, 'id' || n, n, true, 1, now()
    from generate_series(1, ${count}::integer) n`.execute(db)
  await sql`update public_change_head set last = ${count}`.execute(db)
  await sql`analyze public_change`.execute(db)
}
