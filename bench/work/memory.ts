// Resident memory of idle servers with catalogues of different sizes: 40 seconds after the first build of the index, when V8
// has returned what it does not need, and after a restart. The servers run at the same time.
import { setTimeout as sleep } from 'node:timers/promises'
import { makeDataDir } from '#test/support/processes/running-depot.ts'
import { residentMb, startBenchDepot } from '../kit/servers.ts'
import { figure, type Row, row } from '../kit/table.ts'
import { fillAll, untilBuilt, withDatabase } from './capacity.ts'

/** Numbers of projects, with the goal in MB. */
const SIZES: readonly { projects: number; atMost?: number }[] = [
  { projects: 0, atMost: 190 },
  { projects: 2_000, atMost: 230 },
  { projects: 20_000 },
  { projects: 100_000, atMost: 420 },
]
const SOON_MS = 40_000
/** V8 reduces its heap after some minutes in which little is allocated. */
const LONG_MS = 300_000

type Measured = { soon: number; later: number; restarted: number }

export async function benchMemory(): Promise<Row[]> {
  const folders = SIZES.map(() => makeDataDir())
  const start = async (n: number) => {
    const server = await startBenchDepot(folders[n]?.dataDir ?? '')
    const { projects = 0 } = SIZES[n] ?? {}
    if (projects > 0) await untilBuilt(server, projects)
    return server
  }
  try {
    for (const [n, { projects }] of SIZES.entries())
      await withDatabase(folders[n]?.dataDir ?? '', (db) => fillAll(db, projects))
    const measured = await Promise.all(
      SIZES.map(async (_, n): Promise<Measured> => {
        const built = await start(n)
        await sleep(SOON_MS)
        const soon = residentMb(built.child)
        await sleep(LONG_MS)
        const later = residentMb(built.child)
        await built.stop()
        const again = await start(n)
        await sleep(LONG_MS)
        const restarted = residentMb(again.child)
        await again.stop()
        return { soon, later, restarted }
      }),
    )
    return rowsOf(measured)
  } finally {
    for (const { remove } of folders) remove()
  }
}

function rowsOf(measured: readonly Measured[]): Row[] {
  const [empty, , small, large] = measured.map(({ restarted }) => restarted)
  const predicted = (empty ?? 0) + ((small ?? 0) - (empty ?? 0)) * 5
  return [
    ...SIZES.flatMap(({ projects, atMost }, n) => {
      const { soon = 0, later = 0, restarted = 0 } = measured[n] ?? {}
      const what = projects === 0 ? 'an empty catalogue' : `${projects} projects`
      const after = projects === 0 ? 'the start' : 'the first build of the index'
      return [
        figure(`${what}, ${SOON_MS / 1000} s after ${after}`, `${soon} MB`),
        atMost === undefined
          ? figure(`${what}, ${LONG_MS / 60_000} minutes later`, `${later} MB`)
          : row(`${what}, ${LONG_MS / 60_000} minutes later`, later, { atMost }, ' MB'),
        figure(`${what}, ${LONG_MS / 60_000} minutes after a restart`, `${restarted} MB`),
      ]
    }),
    row(
      '100000 projects, after a restart: deviation of the prediction',
      Math.abs(predicted / (large ?? 0) - 1),
      { atMost: 0.25 },
      '',
      `predicted ${predicted.toFixed(0)}, measured ${large} MB`,
    ),
  ]
}
