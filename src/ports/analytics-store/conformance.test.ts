import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { testAnalyticsStore } from '#test/conformance/analytics-store.ts'
import { openNaiveStore } from '#test/support/stand-ins/reference-analytics-store.ts'
import { openDuckDbStore } from './duckdb/store.ts'

const dir = await mkdtemp(join(tmpdir(), 'depot-analytics-'))
after(() => rm(dir, { recursive: true }))

const naive = openNaiveStore()
const duckdb = await openDuckDbStore({ dir })
testAnalyticsStore('naive', async () => naive)
testAnalyticsStore('DuckDB', async () => duckdb)
