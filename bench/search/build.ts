// The first build of the search index from the database, with two threads and with one, in turn.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { makeDataDir } from '#test/support/processes/running-depot.ts'
import { figure, type Row, row } from '../kit/table.ts'
import { fill, withDatabase } from './http.ts'

/** Processor seconds of the main thread, and of the search thread and the garbage collector. */
export type BuildFigures = {
  readonly seconds: number
  readonly main: number
  readonly others: number
}

const ROUNDS = 3

export async function benchSearchBuild({ projects = 200_000 } = {}): Promise<Row[]> {
  const { dataDir, remove } = makeDataDir()
  try {
    return await withDatabase(dataDir, 'server', async (db) => {
      await fill(db, projects)
      const one: BuildFigures[] = []
      const two: BuildFigures[] = []
      for (let i = 0; i < ROUNDS; i += 1) {
        one.push(await buildOnce(dataDir, 'one'))
        two.push(await buildOnce(dataDir, 'two'))
      }
      const [single, shared] = [fastest(one), fastest(two)]
      const processor = ({ main, others }: BuildFigures) =>
        `${main.toFixed(1)} and ${others.toFixed(1)} s of processor time`
      return [
        row(
          `first build of ${projects} projects with two threads, against one`,
          shared.seconds / single.seconds,
          { atMost: 0.6 },
          ' times',
          `${shared.seconds.toFixed(1)} and ${single.seconds.toFixed(1)} s`,
        ),
        figure('main thread, and the other threads, of the build with two', processor(shared)),
        figure('of the build with one', processor(single)),
      ]
    })
  } finally {
    remove()
  }
}

async function buildOnce(dataDir: string, mode: 'one' | 'two'): Promise<BuildFigures> {
  const program = join(import.meta.dirname, 'build-once.ts')
  const { stdout } = await promisify(execFile)(process.execPath, [program, dataDir, mode])
  return JSON.parse(stdout)
}

function fastest(builds: readonly BuildFigures[]): BuildFigures {
  return builds.reduce((best, build) => (build.seconds < best.seconds ? build : best))
}
