// Event ingestion over HTTP while other requests read projects.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { makeDataDir } from '#test/support/processes/running-depot.ts'
import { author, publishProjects } from '../http.ts'
import { call, cpuSeconds, peakMb, startBenchDepot } from '../kit/servers.ts'
import { figure, type Row, row } from '../kit/table.ts'

const run = promisify(execFile)
const VIEWS_PER_SECOND = 5_000
const READS_PER_SECOND = 200
const QUIET_SECONDS = 10
const BUSY_SECONDS = 60
/** Until what is remembered of addresses has reached its bound, and what was forgotten has been collected once. */
const WARM_SECONDS = 90

type Measured = { views: number; refused: number; reads: number; failed: number; readP50Ms: number; readP99Ms: number }

export async function benchIngest(): Promise<Row[]> {
  const { dataDir, remove } = makeDataDir()
  const server = await startBenchDepot(dataDir)
  try {
    const token = await author(dataDir)
    const ids = await publishProjects(server.url, token, 20)
    const { port } = new URL(server.url)
    const measure = async (seconds: number, views: number): Promise<Measured> => {
      const args = [join(import.meta.dirname, 'ingest-load.ts'), port, seconds, views, READS_PER_SECOND, ...ids]
      return JSON.parse((await run(process.execPath, args.map(String))).stdout)
    }
    await measure(3, 500)
    const quiet = await measure(QUIET_SECONDS, 0)
    await measure(WARM_SECONDS, VIEWS_PER_SECOND)
    // Memory is a saw: forgotten addresses lie about until the old generation is collected. Flat means that its teeth
    // grow no longer, which says nothing of where on a tooth a minute begins and ends.
    const before = peakMb(server.child)
    const cpuBefore = cpuSeconds(server.child)
    const busy = await measure(BUSY_SECONDS, VIEWS_PER_SECOND)
    const cpu = cpuSeconds(server.child) - cpuBefore
    const after = peakMb(server.child)
    const { dropped, lost } = await outcomes(server.url)
    return [
      row('views accepted a second, over a minute', busy.views / BUSY_SECONDS, { atLeast: VIEWS_PER_SECOND * 0.99 }),
      row('views dropped, lost or refused', dropped + lost + busy.refused, { atMost: 0 }),
      row(
        'p99 of warm project reads under load, relative to quiet',
        busy.readP99Ms / quiet.readP99Ms,
        { atMost: 3 },
        '×',
        `${busy.readP99Ms} ms; quiet ${quiet.readP99Ms} ms`,
      ),
      row(
        'peak of memory gained over the minute',
        after - before,
        { atMost: 64 },
        ' MB',
        `${before} MB, then ${after} MB`,
      ),
      figure('processor time of a view, reads included', `${((cpu / busy.views) * 1e6).toFixed(0)} µs`),
      figure('median of warm project reads under load', `${busy.readP50Ms} ms; quiet ${quiet.readP50Ms} ms`),
    ]
  } finally {
    await server.stop()
    remove()
  }
}

/** Counts the dropped and lost views in /metrics. */
async function outcomes(url: string): Promise<{ dropped: number; lost: number }> {
  const text = await (await call(`${url}/metrics`)).text()
  const count = (outcome: string): number =>
    Number(
      new RegExp(`depot_analytics_events_total\\{kind="view",outcome="${outcome}"\\} (\\d+)`).exec(text)?.[1] ??
        Number.NaN,
    )
  return { dropped: count('dropped'), lost: count('lost') }
}
