// The lease of an index that all processes share: a row in the database and an advisory lock.
import { sql } from 'kysely'
import type { Client } from 'pg'
import { withinTime } from '#lib/concurrency/within-time.ts'
import type { Db } from '#platform/db/db.ts'
import type { IndexLease, IndexLeases, SavedState } from './index-lease.ts'

export type SharedLeaseOptions = {
  db: Db
  /** Opens a separate connection directly to PostgreSQL, because the lock belongs to the session. */
  connect: () => Promise<Client>
  /** Name of the index. */
  name: string
}

/** Time limit of a statement. The lease is lost after it. */
const RESPONSE_MS = 5_000

/** The lock ends with its connection, so that another process can acquire the lease of a dead one immediately. */
export function sharedLeases({ db, connect, name }: SharedLeaseOptions): IndexLeases {
  return {
    watch: () => readRow(db, name),
    async acquire() {
      const client = await connect()
      const session = openSession(client)
      try {
        const { rows } = await session.query('select pg_try_advisory_lock(hashtextextended($1, 0)) as mine', [
          `depot search index ${name}`,
        ])
        if (rows[0]?.['mine'] === true) return await createLease({ db, name, session })
      } catch (error) {
        await session.end()
        throw error
      }
      await session.end()
      return undefined
    },
  }
}

type Session = ReturnType<typeof openSession>

function openSession(client: Client) {
  let isLost = false
  const lose = () => {
    isLost = true
  }
  client.on('error', lose)
  client.on('end', lose)
  const end = async () => {
    lose()
    await within(client.end()).catch(() => undefined)
  }
  async function query(text: string, values: unknown[] = []) {
    if (isLost) throw new Error('The connection that holds the lease of the search index was lost')
    try {
      return await within(client.query<Record<string, unknown>>(text, values))
    } catch (error) {
      // It is unknown whether the session still holds the lock.
      void end()
      throw error
    }
  }
  return { query, end, isLost: () => isLost }
}

async function createLease({ db, name, session }: { db: Db; name: string; session: Session }): Promise<IndexLease> {
  // Each holder has a new number, so that a holder that lost the lock unnoticed cannot write.
  const { rows } = await session.query(
    `insert into search_index (name) values ($1)
     on conflict (name) do update set holder = search_index.holder + 1 returning holder`,
    [name],
  )
  const holder = rows[0]?.['holder']
  return {
    isLost: session.isLost,
    check: async () => void (await session.query('select 1')),
    readState: () => readRow(db, name),
    async writeState({ snapshot, database, basis, rebuilt, identity }) {
      const { rowCount } = await session.query(
        `update search_index set snapshot = $3, database = $4, basis = $5, rebuilt = $6, identity = $7
         where name = $1 and holder = $2`,
        [name, holder, snapshot, database, basis, rebuilt, identity ?? ''],
      )
      if (rowCount === 1) return
      await session.end()
      throw new Error('Another process feeds the search index')
    },
    release: session.end,
  }
}

async function readRow(db: Db, name: string): Promise<SavedState | undefined> {
  const { rows } = await sql<SavedState>`
    select snapshot, database, basis, rebuilt, identity from search_index
    where name = ${name} and snapshot is not null`.execute(db)
  return rows[0]
}

function within<T>(response: Promise<T>): Promise<T> {
  return withinTime(response, RESPONSE_MS, () => new Error(`no response within ${RESPONSE_MS} ms`))
}
