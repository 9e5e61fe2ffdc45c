// `npm run faults [-- --rounds N --minutes N --seed S --only WORDS]`: in each round everybody writes, something breaks, and
// everything that was acknowledged must be there. Ends with 1 when something is not.
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs, promisify } from 'node:util'
import { checkLedger, checkNothingLeft } from './check.ts'
import { type Instance, type Kind, openInstance } from './instance.ts'
import { EMBEDDED, EXTERNAL, type Fault, FULL_DISK } from './rounds.ts'
import { setUp } from './set-up.ts'
import { type Ledger, startWriters } from './writers.ts'

const run = promisify(execFile)
const DISK_BYTES = 96 * 1024 * 1024
/** Maximum number of printed problems per round. */
const SHOWN_MAX = 10

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '30' },
    /** Minutes after which no round begins. */
    minutes: { type: 'string', default: '600' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string', default: '' },
  },
})
/** A small random number generator with a seed, so that a run can repeat the same faults. */
let state = Number(values.seed)
const random = (): number => {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
  return state / 2 ** 32
}

const only = values.only.toLowerCase()
const wanted = ({ name }: Fault): boolean => name.toLowerCase().includes(only)
const problems: string[] = []
const counts = new Map<string, number>()
const rounds = Number(values.rounds)
// The operator's database gets the larger half: more can go wrong there.
const share = Math.max(1, Math.round(rounds * 0.45))
const startedAt = Date.now()
/** When a part of the time has passed, so that each kind of instance gets some. */
const endAt = (part: number): number => startedAt + Number(values.minutes) * 60_000 * part
await runWorld('embedded', EMBEDDED.filter(wanted), { times: share, until: endAt(0.45) })
if (rounds > 1) await runWorld('external', EXTERNAL.filter(wanted), { times: rounds - share, until: endAt(1) })
if (rounds > 3 && wanted(FULL_DISK))
  await onSmallDisk((folder) => runWorld('external', [FULL_DISK], { times: 2, until: Infinity }, folder))
console.log(`\n${[...counts].map(([name, count]) => `${count} × ${name}`).join(', ')}`)
console.log(
  problems.length === 0
    ? 'everything that was acknowledged is there'
    : `${problems.length} problems:\n${problems.join('\n')}`,
)
process.exit(problems.length === 0 ? 0 : 1)

async function runWorld(
  kind: Kind,
  faults: readonly Fault[],
  { times, until }: { times: number; until: number },
  folder?: string,
): Promise<void> {
  if (faults.length === 0) return
  const instance = await openInstance(kind, folder)
  try {
    const ledger = await setUp(instance)
    for (let round = 0; round < times && (round === 0 || Date.now() < until); round += 1) {
      const fault = faults[Math.floor(random() * faults.length + round) % faults.length] ?? faults[0]
      if (fault === undefined) return
      report(`${kind}: ${fault.name}`, await runRound(instance, ledger, fault))
      counts.set(fault.name, (counts.get(fault.name) ?? 0) + 1)
    }
    report(`${kind}: files and counters in the end`, await checkNothingLeft(instance))
    const told = [...ledger.answers].sort(([a], [b]) => a - b)
    const { versions, conversions, payouts, revenue, sessions, releases, icons, downloads, listed } = ledger
    console.log(
      `  ${versions.size} versions, ${releases.size} of them scheduled, ${listed.size} projects, ${icons} icons, ` +
        `${conversions.size} sales, ${payouts.size} payouts, ${revenue.size} reports of revenue, ` +
        `${sessions.length} accounts, ${downloads.asked} downloads; ` +
        `answers ${told.map(([status, count]) => `${count} × ${status === 0 ? 'none' : status}`).join(', ')}`,
    )
  } finally {
    await instance.close()
  }
}

async function runRound(instance: Instance, ledger: Ledger, fault: Fault): Promise<string[]> {
  const writers = startWriters(instance, ledger)
  await sleep(500 + random() * 1_500)
  const { killedAt, problems: own = [] } = await fault.run(instance)
  await sleep(300)
  await writers.stop()
  return [...own, ...(await checkLedger(instance, ledger, killedAt))]
}

function report(what: string, all: readonly string[]): void {
  const more = all.length > SHOWN_MAX ? [`and ${all.length - SHOWN_MAX} more`] : []
  const found = [...all.slice(0, SHOWN_MAX), ...more]
  console.log(
    `${new Date().toISOString().slice(11, 19)} ${what}${found.length === 0 ? '' : `\n  ${found.join('\n  ')}`}`,
  )
  problems.push(...found.map((problem) => `${what}: ${problem}`))
}

/** A disk in memory, where this user may make one. */
async function onSmallDisk(act: (folder: string) => Promise<void>): Promise<void> {
  const disk = await mkdtemp(join(tmpdir(), 'depot-disk-'))
  try {
    await run('mount', ['-t', 'tmpfs', '-o', `size=${DISK_BYTES}`, 'tmpfs', disk])
  } catch {
    console.log('fill the disk: left out, this user cannot mount a disk in memory')
    await rm(disk, { recursive: true })
    return
  }
  try {
    const folder = join(disk, 'depot')
    await mkdir(folder)
    await act(folder)
  } finally {
    await run('umount', ['-l', disk])
    await rm(disk, { recursive: true, force: true })
  }
}
