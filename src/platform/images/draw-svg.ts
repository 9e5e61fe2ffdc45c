// Draws an untrusted SVG in a separate process. The cost is not predictable (a line of 20,000 letters takes 23 seconds),
// the library has no effective time limit, and only a process can be killed.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { buffer } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { createLimiter, overloaded } from '#lib/concurrency/limiter.ts'
import { invalidInput } from '#lib/errors.ts'
import { type Pixels, SCALE_ERROR_KINDS, ScaleError, type ScaleRules } from './scale.ts'

const CHILD = fileURLToPath(new URL('./draw-svg-child.ts', import.meta.url))
/** Processor time of the process. It starts in 330 ms, and then a typical icon takes 30 ms. */
const CPU_MS_MAX = 10_000
/** Elapsed time. If it runs out before the processor time, the machine is busy. */
const WAIT_MS_MAX = 40_000
const HEADER_BYTES = 8
/** Above the exit codes of Node.js. */
const FAULT_CODES = 64
/** Ends the process when it has used its processor time. `process.exit` would wait for the drawing thread. */
const TOO_LONG_SIGNAL = 'SIGVTALRM'
/** Interval of the checks, which run while the library draws in another thread. */
const CPU_CHECK_MS = 50

export type DrawLimits = { cpuMs?: number; waitMs?: number }

/** `field`: field in errors. `caller`: client; the queue takes SVGs in turn from each client. */
export type DrawSvg = (
  svg: Buffer,
  rules: ScaleRules,
  of: { field: string; caller?: string | undefined },
) => Promise<Pixels>

/**
 * Draws at most two SVGs at a time, in a separate queue so that other images do not wait for slow SVGs.
 * @throws ScaleError; ApiError `invalid_input` if drawing takes more than `cpuMs` of processor time, and 503 with
 * `Retry-After` if the machine is too busy to provide that time within `waitMs`.
 */
export function createDrawSvg({ cpuMs = CPU_MS_MAX, waitMs = WAIT_MS_MAX }: DrawLimits = {}): DrawSvg {
  const limiter = createLimiter({ running: 2, waiting: 64 })
  return (svg, rules, { field, caller }) => limiter.run(() => draw({ svg, rules, field, cpuMs, waitMs }), caller)
}

type Drawing = Required<DrawLimits> & { svg: Buffer; rules: ScaleRules; field: string }

async function draw({ svg, rules, field, cpuMs, waitMs }: Drawing): Promise<Pixels> {
  const child = spawn(process.execPath, [CHILD, JSON.stringify(rules), String(cpuMs)], {
    // The environment of the server contains secrets.
    env: {},
    stdio: ['pipe', 'pipe', 'ignore'],
    timeout: waitMs,
    killSignal: 'SIGKILL',
  })
  const closed = once(child, 'close')
  // A killed process does not read all of its input.
  child.stdin.on('error', () => {})
  child.stdin.end(svg)
  const [drawn, [code, signal]] = await Promise.all([buffer(child.stdout), closed])
  if (signal === TOO_LONG_SIGNAL) throw invalidInput('The SVG takes too long to draw', field)
  if (signal === 'SIGKILL') throw overloaded('The service is too busy to draw the SVG')
  if (code !== 0) {
    const kind = SCALE_ERROR_KINDS[code - FAULT_CODES]
    if (kind === undefined) throw new Error(`The process that draws SVGs ended with ${code ?? signal}`)
    throw new ScaleError(kind)
  }
  return { width: drawn.readUInt32LE(0), height: drawn.readUInt32LE(4), data: drawn.subarray(HEADER_BYTES) }
}

/** Returns the exit code of the child process for an error. */
export function exitCodeOf({ kind }: ScaleError): number {
  return FAULT_CODES + SCALE_ERROR_KINDS.indexOf(kind)
}

/** Returns the output of the child process: width, height and pixels. */
export function toOutput({ width, height, data }: Pixels): Buffer {
  const header = Buffer.alloc(HEADER_BYTES)
  header.writeUInt32LE(width, 0)
  header.writeUInt32LE(height, 4)
  return Buffer.concat([header, data])
}

/** Ends this process, the child process, when it has used the given processor time. */
export function endAfterCpu(cpuMs: number): void {
  const check = (): void => {
    const { user, system } = process.cpuUsage()
    if ((user + system) / 1000 > cpuMs) process.kill(process.pid, TOO_LONG_SIGNAL)
  }
  setInterval(check, CPU_CHECK_MS).unref()
}
