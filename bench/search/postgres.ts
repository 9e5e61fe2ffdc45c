// The catalogue in PostgreSQL: full text and facets, each with a GIN index.
import pg from 'pg'
import type { SearchDocument } from '#ports/search-index/document.ts'
import { withPostgres } from '../kit/own-postgres.ts'
import { seconds, type Times, time } from '../kit/timing.ts'
import { batches, flat, type Query } from './queries.ts'

/** Its medians are far above their noise. */
const RUNS = 7

/** In a temporary table, which goes with the connection. */
export function benchPostgres(
  projects: number,
  queries: readonly Query[],
  print: (line: string) => void,
): Promise<Map<string, Times>> {
  return withPostgres(async (url) => {
    const client = new pg.Client({ connectionString: url })
    // A lost connection fails the running query, which reports it.
    client.on('error', () => undefined)
    await client.connect()
    try {
      print(`PostgreSQL: build ${seconds(await fill(client, projects))} with the making of the documents`)
      const times = new Map<string, Times>()
      for (const { name, sql, values } of queries) {
        times.set(name, await time(RUNS, () => client.query(sql, [...values])))
      }
      return times
    } finally {
      await client.end()
    }
  })
}

async function fill(client: pg.Client, projects: number): Promise<number> {
  const start = performance.now()
  await client.query(
    'create temporary table bench_search (id text, downloads bigint, created bigint, facets text[], text tsvector)',
  )
  for (const documents of batches(projects, 5000)) await insert(client, documents)
  await client.query('create index on bench_search using gin (text)')
  await client.query('create index on bench_search using gin (facets)')
  await client.query('create index on bench_search (downloads desc)')
  await client.query('create index on bench_search (created desc)')
  await client.query('analyze bench_search')
  return performance.now() - start
}

async function insert(client: pg.Client, documents: readonly SearchDocument[]): Promise<void> {
  const rows = documents.map((document) => {
    const { id, name, slug, author, summary, downloads, created, loaders, types, categories } = flat(document)
    const facets = [
      ...categories.map((value) => `c=${value}`),
      ...loaders.map((value) => `l=${value}`),
      ...types.map((value) => `t=${value}`),
    ]
    return { id, downloads, created, facets, name, rest: `${slug} ${author} ${summary}` }
  })
  await client.query(
    `insert into bench_search
     select id, downloads, created, facets,
            setweight(to_tsvector('simple', name), 'A') || setweight(to_tsvector('simple', rest), 'D')
     from jsonb_to_recordset($1) as r(id text, downloads bigint, created bigint, facets text[], name text, rest text)`,
    [JSON.stringify(rows)],
  )
}
