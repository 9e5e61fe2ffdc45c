// Commands from the faults program to the processes of a Depot, in a file.
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/** Names the file. */
export const CONTROL_VARIABLE = 'FAULTS_CONTROL_FILE'

export type Disturbance = {
  /** Number of commands so far. */
  serial: number
  /** Milliseconds by which the clock of the processes is ahead; negative if behind. */
  clockMs: number
  /** Number of threads that a process ends, once. */
  endThreads: number
}

export const doneFile = (path: string, pid: number): string => `${path}.${pid}`

const WAIT_MS = 25
const OBEYED_WITHIN_MS = 60_000

/** Whole or not at all, as it is read at any time. */
export function tell(path: string, disturbance: Disturbance): void {
  writeFileSync(`${path}.new`, JSON.stringify(disturbance))
  renameSync(`${path}.new`, path)
}

/** Waits until the process has executed the command; returns the number of threads that it ended. */
export async function whenDone(path: string, pid: number, serial: number): Promise<number> {
  for (let waited = 0; waited < OBEYED_WITHIN_MS; waited += WAIT_MS) {
    try {
      const done = JSON.parse(readFileSync(doneFile(path, pid), 'utf8')) as { serial: number; ended: number }
      if (done.serial === serial) return done.ended
    } catch {
      // Not written yet, or not whole.
    }
    await sleep(WAIT_MS)
  }
  throw new Error('The process under test does not respond to commands')
}
