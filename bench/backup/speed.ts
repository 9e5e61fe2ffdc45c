// The speed of backup and restore compared with `tar`. Both read and write the same files, those of the instance, and both
// wait until everything is on disk. `tar` is thus faster by what only Depot does: it copies rows and events, computes
// checksums, and creates a database. The rounds alternate between Depot and `tar`, because machines drift.
import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { startBenchDepot } from '../kit/servers.ts'
import { figure, type Row, row } from '../kit/table.ts'
import { command, settle, timed } from './measured-command.ts'

export type Case = {
  name: string
  rounds: number
  /** Minimum share of the throughput of `tar`. */
  backupMin: number
  restoreMin: number
  /** Fills the instance, which a server serves. */
  fill(url: string, dataDir: string): Promise<unknown>
}

type Round = Record<'pack' | 'packWhole' | 'backup' | 'backupStopped' | 'unpack' | 'restore', number>

/** Leaves the instance in `at('first')`, its backup in `at('depot.tar')` and the restored instance in `at('second')`. */
export async function benchSpeed(at: (name: string) => string, aim: Case): Promise<Row[]> {
  await withServer(at('first'), ({ url }) => aim.fill(url, at('first')))
  const rounds: Round[] = []
  for (let n = 0; n < aim.rounds; n += 1) rounds.push(await measureRound(at))
  const { files, bytes } = countFiles(at('first/files'))
  const archiveBytes = statSync(at('files.tar')).size
  const perSecond = (seconds: number): string => `${(archiveBytes / 2 ** 20 / seconds).toFixed(0)} MB/s`
  const compare = (what: string, own: keyof Round, of: keyof Round, min: number): Row => {
    const ratios = rounds.map((round) => round[of] / round[own]).sort((a, b) => a - b)
    const [ownSeconds, ofSeconds] = [median(rounds, own), median(rounds, of)]
    const spread = `${ratios[0]?.toFixed(2)} to ${ratios.at(-1)?.toFixed(2)} in ${rounds.length} rounds`
    const detail = `${spread}; ${ownSeconds.toFixed(2)} and ${ofSeconds.toFixed(2)} s, ${perSecond(ownSeconds)} and ${perSecond(ofSeconds)}`
    const ratio = ratios[Math.floor(ratios.length / 2)] ?? 0
    return row(`${aim.name}: ${what}`, ratio, { atLeast: min }, ' times', detail)
  }
  const whole = `${median(rounds, 'packWhole').toFixed(2)} s; backup without a server ${median(rounds, 'backupStopped').toFixed(2)} s`
  return [
    figure(
      `${aim.name}: files`,
      `${files}, ${Math.round(bytes / 2 ** 20)} MB; ${Math.round(archiveBytes / 2 ** 20)} MB as an archive; load ${loadavg()[0]?.toFixed(1)}`,
    ),
    compare('throughput of backup against tar', 'backup', 'pack', aim.backupMin),
    compare('throughput of restore against tar', 'restore', 'unpack', aim.restoreMin),
    figure(`${aim.name}: tar of the whole data folder`, whole),
  ]
}

/** Runs each program once, with the files in the page cache. A server runs during the backup, as on a live instance. */
async function measureRound(at: (name: string) => string): Promise<Round> {
  for (const name of ['files.tar', 'whole.tar', 'depot.tar', 'unpacked', 'second']) {
    rmSync(at(name), { recursive: true, force: true })
  }
  const seconds = { backup: 0, pack: 0 }
  await withServer(at('first'), async () => {
    await settle()
    seconds.pack = await timed('tar', ['-cf', at('files.tar'), '-C', at('first'), 'files'], at('files.tar'))
    await settle()
    seconds.backup = (await command(at('first'), ['backup', at('depot.tar')])).seconds
  })
  await settle()
  const packWhole = await timed('tar', ['-cf', at('whole.tar'), '-C', at('first'), '.'], at('whole.tar'))
  rmSync(at('whole.tar'))
  await settle()
  const backupStopped = (await command(at('first'), ['backup', at('again.tar')])).seconds
  rmSync(at('again.tar'))
  mkdirSync(at('unpacked'))
  await settle()
  const unpack = await timed('tar', ['-xf', at('files.tar'), '-C', at('unpacked')], at('unpacked'))
  mkdirSync(at('second'), { mode: 0o711 })
  await settle()
  const restore = (await command(at('second'), ['restore', at('depot.tar')])).seconds
  return { ...seconds, packWhole, backupStopped, unpack, restore }
}

async function withServer(dataDir: string, act: (server: { url: string }) => Promise<unknown>): Promise<void> {
  if (!existsSync(dataDir)) mkdirSync(dataDir, { mode: 0o711 })
  const server = await startBenchDepot(dataDir)
  try {
    await act(server)
  } finally {
    await server.stop()
  }
}

function median(rounds: readonly Round[], of: keyof Round): number {
  const sorted = rounds.map((round) => round[of]).sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? 0
}

function countFiles(folder: string): { files: number; bytes: number } {
  const found = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return {
    files: found.length,
    bytes: found.reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0),
  }
}
