import { createPool, createDb } from '#db/db.ts'
import { sql } from 'kysely'
import { resolveFiles, listUpdates } from '#features/versions/resolve-files.ts'
const pool = createPool({ connectionString: 'postgres://depot@127.0.0.1:5499/cat_bench' }, { max: 2, applicationName: 'x' })
const db = createDb(pool)
const { rows } = await sql<{ sha1: string }>`select sha1 from file order by sha512 limit 1000`.execute(db)
const hashes = rows.map((r) => r.sha1)
async function best(name: string, f: () => Promise<unknown>, n = 40) {
  let min = Infinity, all: number[] = []
  for (let i = 0; i < n; i++) { const b = performance.now(); await f(); const m = performance.now() - b; all.push(m); min = Math.min(min, m) }
  all.sort((a, b) => a - b)
  console.log(name, 'min', min.toFixed(2), 'median', all[n >> 1]!.toFixed(2))
}
const filter = { loaders: ['fabric'], loaderFields: { game_versions: ['1.20.1'] } }
for (const n of [1, 1000]) {
  const some = hashes.slice(0, n)
  await best(`resolve ${n}`, () => resolveFiles(db, null, { hashes: some }))
  const files = await resolveFiles(db, null, { hashes: some })
  const wishes = Array.from(files.values(), ({ projectId }) => ({ projectId, filter }))
  await best(`updates ${n}`, () => listUpdates(db, wishes))
  const own = Array.from(files.values(), ({ projectId }) => ({ projectId, filter: { ...filter } }))
  await best(`own ${n}`, () => listUpdates(db, own))
}
await pool.end()
