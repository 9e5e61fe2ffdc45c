// The lease of an index that all processes share: a row of the database, and a lock of which there is one.
import { sql } from 'kysely'
import type { Client } from 'pg'
import type { Db } from '#platform/db/db.ts'
import type { IndexLease, IndexLeases, SavedState } from './index-lease.ts'

export type SharedLeaseOptions = {
  db: Db
  /** A connected client of its own, straight to PostgreSQL: the lock is one of its session. */
  connect: () => Promise<Client>
  /** Which index, where processes of one database might use several. */
  name: string
}

/** A connection that does not answer for this long is given up, and the lease with it. */
const ANSWER_MS = 5_000

/** The lock goes with its connection, so that a process that dies leaves the lease to the next one at once. */
export function sharedLeases({ db, connect, name }: SharedLeaseOptions): IndexLeases {
  return {
    watch: () => readRow(db, name),
    async acquire() {
      const client = await connect()
      const held = holdConnection(client)
      try {
        const { rows } = await held.query('select pg_try_advisory_lock(hashtextextended($1, 0)) as mine', [
          `depot search index ${name}`,
        ])
        if (rows[0]?.['mine'] === true) return await makeLease({ db, name, held })
      } catch (error) {
        await held.end()
        throw error
      }
      await held.end()
      return undefined
    },
  }
}

type Held = {
  query(text: string, values?: unknown[]): Promise<{ rows: Record<string, unknown>[]; rowCount: number | null }>
  isLost(): boolean
  end(): Promise<void>
}

function holdConnection(client: Client): Held {
  let isLost = false
  const lose = () => {
    isLost = true
  }
  client.on('error', lose)
  client.on('end', lose)
  const end = async () => {
    isLost = true
    await within(client.end()).catch(() => undefined)
  }
  return {
    isLost: () => isLost,
    end,
    async query(text, values = []) {
      if (isLost) throw new Error('The connection that holds the search index was lost')
      try {
        return await within(client.query(text, values))
      } catch (error) {
        // Whether the lock is still held cannot be known.
        void end()
        throw error
      }
    },
  }
}

async function makeLease({ db, name, held }: { db: Db; name: string; held: Held }): Promise<IndexLease> {
  // A number of its own for each holder: one that has lost the lock unawares writes nothing any more.
  const { rows } = await held.query(
    `insert into search_index (name) values ($1)
     on conflict (name) do update set holder = search_index.holder + 1 returning holder`,
    [name],
  )
  const holder = rows[0]?.['holder']
  return {
    isLost: held.isLost,
    check: async () => void (await held.query('select 1')),
    readState: () => readRow(db, name),
    async writeState({ snapshot, database, basis, rebuilt, identity }) {
      const { rowCount } = await held.query(
        `update search_index set snapshot = $3, database = $4, basis = $5, rebuilt = $6, identity = $7
         where name = $1 and holder = $2`,
        [name, holder, snapshot, database, basis, rebuilt, identity ?? ''],
      )
      if (rowCount === 1) return
      await held.end()
      throw new Error('Another process feeds the search index')
    },
    release: held.end,
  }
}

async function readRow(db: Db, name: string): Promise<SavedState | undefined> {
  const { rows } = await sql<SavedState>`
    select snapshot, database, basis, rebuilt, identity from search_index
    where name = ${name} and snapshot is not null`.execute(db)
  return rows[0]
}

async function within<T>(answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const tooLate = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ANSWER_MS} ms`)), ANSWER_MS)
  })
  try {
    return await Promise.race([answer, tooLate])
  } finally {
    clearTimeout(timer)
  }
}
