// The machine and what else it does, so that a result says how far it can be trusted.
import { execFileSync } from 'node:child_process'
import { cpus, loadavg, totalmem } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'

const SAMPLE_MS = 3000

export type Machine = { node: string; cores: number; processor: string; memoryGb: number; commit: string }

export function describeMachine(): Machine {
  return {
    node: process.version,
    cores: cpus().length,
    processor: cpus()[0]?.model ?? 'unknown',
    memoryGb: Math.round(totalmem() / 2 ** 30),
    commit: execFileSync('git', ['describe', '--always', '--dirty'], { encoding: 'utf8' }).trim(),
  }
}

/** Load averages of the last minute, five and fifteen minutes. */
export const currentLoad = (): number[] => loadavg().map((each) => Math.round(each * 10) / 10)

/** Returns the share of the processors that other programs use at present, measured for three seconds. */
export async function busyShare(): Promise<number> {
  const read = () => {
    const times = cpus().map((cpu) => cpu.times)
    const idle = times.reduce((sum, each) => sum + each.idle, 0)
    return { idle, all: times.reduce((sum, { user, nice, sys, idle, irq }) => sum + user + nice + sys + idle + irq, 0) }
  }
  const before = read()
  await sleep(SAMPLE_MS)
  const after = read()
  return 1 - (after.idle - before.idle) / (after.all - before.all)
}
