// Runs commands of Depot and other programs, and measures them.
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { ENTRY } from '#test/support/processes/running-depot.ts'
import { peakMb } from '../kit/servers.ts'

const run = promisify(execFile)
const POLL_MS = 20
/** Ticks of the processor in a second, as Linux counts them for programs. */
const TICKS = 100

/** `processor`: seconds of processor time, without PostgreSQL if a server is running. */
export type Measured = { seconds: number; processor: number; peakMb: number; stdout: string }

/** Runs a command of Depot: how long it took, and the most memory it had. */
export async function command(dataDir: string, words: string[]): Promise<Measured> {
  const startedAt = performance.now()
  const child: ChildProcess = spawn(process.execPath, [ENTRY, ...words], {
    env: { ...process.env, DATA_DIR: dataDir },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stdout = ''
  let stderr = ''
  child.stdout?.on('data', (chunk) => {
    stdout += chunk
  })
  child.stderr?.on('data', (chunk) => {
    stderr += chunk
  })
  let peak = 0
  let processor = 0
  const poll = setInterval(() => {
    try {
      peak = Math.max(peak, peakMb(child))
      processor = processorSeconds(child)
    } catch {
      // It has ended.
    }
  }, POLL_MS)
  const code = await new Promise((resolve) => child.on('close', resolve))
  clearInterval(poll)
  if (code !== 0) throw new Error(`${words.join(' ')} ended with ${code}: ${stderr.slice(-2000)}`)
  return { seconds: (performance.now() - startedAt) / 1000, processor, peakMb: peak, stdout }
}

/** Seconds of processor time of a process and of those that it has started and waited for. */
function processorSeconds({ pid }: ChildProcess): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS
}

/** Seconds until a program is done and what it wrote is on disk, as Depot's own archives and files are. */
export async function timed(
  program: string,
  words: string[],
  written: string,
  allowed: number[] = [],
): Promise<number> {
  const startedAt = performance.now()
  await run(program, words).catch((error) => {
    if (!allowed.includes(error.code)) throw error
  })
  await run('sync', ['-f', written])
  return (performance.now() - startedAt) / 1000
}

/** Writes everything to disk, so that a measurement does not include what an earlier one wrote. */
export const settle = async (): Promise<void> => void (await run('sync'))
