// Faults of a Depot while all writers run.
import { closeSync, openSync, writeSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { checkClock, untilReady } from './check.ts'
import type { Instance } from './instance.ts'

/** The result of a fault: the time since which events can be lost, and problems of the fault itself. */
export type Done = { killedAt?: number; problems?: string[] }
export type Fault = { name: string; run: (instance: Instance) => Promise<Done> }

/** The time that Depot gives itself to finish, with some for a machine that is busy. */
const STOP_WITHIN_MS = 60_000
const OUTAGE_MS = 1_500
const HOUR_MS = 3_600_000

/** With the database that Depot starts itself. */
export const EMBEDDED: readonly Fault[] = [
  { name: 'kill the server', run: killServer },
  { name: 'kill the database', run: killOwnDatabase },
  { name: 'kill both', run: killBoth },
  { name: 'SIGTERM under load', run: terminate },
  { name: 'kill the processes that Depot started', run: killHelpers },
  { name: 'end the threads', run: endThreads },
  { name: 'set the clock forward and back', run: (instance) => jump(instance, 3 * HOUR_MS) },
  { name: 'set the clock back and forward', run: (instance) => jump(instance, -3 * HOUR_MS) },
]

/** With a database of the operator's. */
export const EXTERNAL: readonly Fault[] = [
  { name: 'kill the server', run: killServer },
  { name: 'kill the database', run: killOperatorsDatabase },
  { name: 'cut the line to the database', run: cutLine },
  { name: 'pull the cable of the database', run: hangLine },
  { name: 'slow the database down', run: slowLine },
  { name: 'SIGTERM under load', run: terminate },
  { name: 'end the threads', run: endThreads },
  { name: 'set the clock forward and back', run: (instance) => jump(instance, 3 * HOUR_MS) },
  { name: 'set the clock back and forward', run: (instance) => jump(instance, -3 * HOUR_MS) },
]

export const FULL_DISK: Fault = { name: 'fill the disk', run: fillDisk }

async function killServer(instance: Instance): Promise<Done> {
  const killedAt = Date.now()
  await instance.depot.stop('SIGKILL')
  await instance.start()
  return { killedAt }
}

/** Depot cannot run without its embedded database: it exits with an error, so that its supervisor restarts it. */
async function killOwnDatabase(instance: Instance): Promise<Done> {
  const ended = new Promise<number | null>((resolve) => instance.depot.child.once('exit', resolve))
  const killedAt = Date.now()
  await instance.killDatabase()
  const code = await within(ended, STOP_WITHIN_MS)
  await instance.depot.stop('SIGKILL')
  await instance.start()
  return {
    killedAt,
    problems: code === 1 ? [] : [`Depot ended with ${code}, not with 1, when its database was killed`],
  }
}

async function killBoth(instance: Instance): Promise<Done> {
  const killedAt = Date.now()
  await instance.killDatabase(() => instance.depot.stop('SIGKILL'))
  await instance.start()
  return { killedAt }
}

async function terminate(instance: Instance): Promise<Done> {
  const code = await within(instance.depot.stop('SIGTERM'), STOP_WITHIN_MS)
  await instance.depot.stop('SIGKILL')
  await instance.start()
  return { problems: code === 0 ? [] : [`Depot ended with ${code} after SIGTERM`] }
}

async function killHelpers(instance: Instance): Promise<Done> {
  const killedAt = Date.now()
  for (const pid of await instance.helpers()) process.kill(pid, 'SIGKILL')
  return { killedAt, ...(await stillServes(instance)) }
}

async function endThreads(instance: Instance): Promise<Done> {
  for (let n = 0; n < 3; n += 1) {
    await instance.endThreads()
    await sleep(OUTAGE_MS / 3)
  }
  return stillServes(instance)
}

/** The clock of the process, not that of its database: they differ for a while, as two machines may. */
async function jump(instance: Instance, ms: number): Promise<Done> {
  await instance.setClock(ms)
  const problems = await checkClock(instance)
  await sleep(OUTAGE_MS)
  await instance.setClock(0)
  problems.push(...(await checkClock(instance)))
  const after = await stillServes(instance)
  return { problems: [...problems, ...(after.problems ?? [])] }
}

async function killOperatorsDatabase(instance: Instance): Promise<Done> {
  await instance.killDatabase()
  return stillServes(instance)
}

async function cutLine(instance: Instance): Promise<Done> {
  await instance.line?.cut()
  await sleep(OUTAGE_MS)
  await instance.line?.mend()
  return stillServes(instance)
}

async function hangLine(instance: Instance): Promise<Done> {
  instance.line?.hang()
  await sleep(OUTAGE_MS * 2)
  await instance.line?.mend()
  return stillServes(instance)
}

async function slowLine(instance: Instance): Promise<Done> {
  instance.line?.delay(100)
  await sleep(OUTAGE_MS * 2)
  await instance.line?.mend()
  return stillServes(instance)
}

/** Needs a data folder on a separate disk. */
async function fillDisk(instance: Instance): Promise<Done> {
  const filler = join(instance.dataDir, 'filler')
  const file = openSync(filler, 'w')
  try {
    const block = Buffer.alloc(64 * 1024)
    for (;;) writeSync(file, block)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
  } finally {
    closeSync(file)
  }
  await sleep(OUTAGE_MS)
  await rm(filler)
  // Events that Depot could not store on a full disk are stored once there is space, and are lost only if the process
  // dies.
  return stillServes(instance)
}

/** A fault that only disturbs Depot must not end it. */
async function stillServes(instance: Instance): Promise<Done> {
  if (instance.depot.child.exitCode === null && instance.depot.child.signalCode === null) {
    await untilReady(instance)
    return {}
  }
  const problems = [`Depot ended by itself: ${instance.depot.output().slice(-1500)}`]
  await instance.start()
  return { problems }
}

async function within<T>(promise: Promise<T>, ms: number): Promise<T | 'nothing'> {
  const timer = new AbortController()
  const late = sleep(ms, 'nothing' as const, { signal: timer.signal }).catch(() => 'nothing' as const)
  return Promise.race([promise, late]).finally(() => timer.abort())
}
