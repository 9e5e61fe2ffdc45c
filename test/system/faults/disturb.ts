// Loaded into every process and thread of the Depot under test (`--import`): sets its clock and ends its threads when a
// file says so. Real clocks and threads cannot be touched from outside without touching the whole machine's.
import { readFileSync, watchFile, writeFileSync } from 'node:fs'
import { isMainThread, type Worker } from 'node:worker_threads'
import { CONTROL_VARIABLE, type Disturbance, doneFile } from './disturbance.ts'

const POLL_MS = 50
const file = process.env[CONTROL_VARIABLE]
if (file !== undefined) watch(file)

function watch(path: string): void {
  const RealDate = Date
  const realNow = RealDate.now
  let clockMs = 0
  let serial = 0
  const workers = new Set<Worker>()
  process.on('worker', (worker) => {
    workers.add(worker)
    worker.once('exit', () => workers.delete(worker))
  })
  const now = (): number => realNow() + clockMs
  // A proxy, so that dates made by the runtime itself stay dates of this class.
  const ShiftedDate: DateConstructor = new Proxy(RealDate, {
    construct: (target, args, newTarget): Date =>
      Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget === ShiftedDate ? target : newTarget),
    apply: () => new RealDate(now()).toString(),
  })
  RealDate.now = now
  RealDate.prototype.constructor = ShiftedDate
  globalThis.Date = ShiftedDate

  const obey = (): void => {
    const wanted = read(path)
    clockMs = wanted.clockMs
    if (wanted.serial === serial) return
    serial = wanted.serial
    if (!isMainThread) return
    const ending = [...workers].slice(0, wanted.endThreads)
    for (const worker of ending) void worker.terminate()
    writeFileSync(doneFile(path, process.pid), JSON.stringify({ serial, ended: ending.length }))
  }
  // A thread that starts later uses the current clock, and does not end threads.
  const first = read(path)
  clockMs = first.clockMs
  serial = first.serial
  watchFile(path, { interval: POLL_MS, persistent: false }, obey)
}

function read(path: string): Disturbance {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Disturbance
  } catch {
    return { serial: 0, clockMs: 0, endThreads: 0 }
  }
}
