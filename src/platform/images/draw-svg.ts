// Draws an SVG from a stranger in a process of its own. What a drawing costs cannot be told from its text (one line of
// 20,000 letters takes the library 23 seconds, and no limit of time reaches into it), and only a process can be ended.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { buffer } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { createLimiter, overloaded } from '#lib/concurrency/limiter.ts'
import { invalidInput } from '#lib/errors.ts'
import { type Pixels, SCALE_ERROR_KINDS, ScaleError, type ScaleRules } from './scale.ts'

const CHILD = fileURLToPath(new URL('./draw-svg-child.ts', import.meta.url))
/** Of its own processor time. A usual icon takes 30 ms after the third of a second in which the process starts. */
const CPU_MS_MAX = 10_000
/** By the clock: a drawing that got so little of a busy machine in this time is not to blame. */
const WAIT_MS_MAX = 40_000
const HEADER_BYTES = 8
/** Above the codes that Node itself ends with. */
const FAULT_CODES = 64
/** How the process ends when it has used its processor time; an exit would wait for the thread that draws. */
const TOO_LONG_SIGNAL = 'SIGVTALRM'
/** The library draws beside the event loop, which is free to look. */
const CPU_LOOK_MS = 50

export type DrawLimits = { cpuMs?: number; waitMs?: number }

/** `field` is what an error names; `caller` who uploads: drawings wait fairly between callers. */
export type DrawSvg = (
  svg: Buffer,
  rules: ScaleRules,
  of: { field: string; caller?: string | undefined },
) => Promise<Pixels>

/**
 * Two drawings at a time, apart from other pictures, which do not wait for slow ones.
 * @throws (what it returns) ScaleError; ApiError `invalid_input` naming `field` when drawing takes more processor time than
 * `cpuMs`, and 503 with `Retry-After` when the machine is so busy that it did not get that within `waitMs`.
 */
export function createDrawSvg({ cpuMs = CPU_MS_MAX, waitMs = WAIT_MS_MAX }: DrawLimits = {}): DrawSvg {
  const limiter = createLimiter({ running: 2, waiting: 64 })
  return (svg, rules, { field, caller }) => limiter.run(() => draw({ svg, rules, field, cpuMs, waitMs }), caller)
}

type Drawing = Required<DrawLimits> & { svg: Buffer; rules: ScaleRules; field: string }

async function draw({ svg, rules, field, cpuMs, waitMs }: Drawing): Promise<Pixels> {
  const child = spawn(process.execPath, [CHILD, JSON.stringify(rules), String(cpuMs)], {
    // Nothing of the server's own environment, where its secrets are.
    env: {},
    stdio: ['pipe', 'pipe', 'ignore'],
    timeout: waitMs,
    killSignal: 'SIGKILL',
  })
  const closed = once(child, 'close')
  // A child that was ended does not read to the end.
  child.stdin.on('error', () => {})
  child.stdin.end(svg)
  const [drawn, [code, signal]] = await Promise.all([buffer(child.stdout), closed])
  if (signal === TOO_LONG_SIGNAL) throw invalidInput('The SVG takes too long to draw', field)
  if (signal === 'SIGKILL') throw overloaded('The service is too busy to draw the SVG')
  if (code !== 0) {
    const kind = SCALE_ERROR_KINDS[code - FAULT_CODES]
    if (kind === undefined) throw new Error(`The process that draws pictures ended with ${code ?? signal}`)
    throw new ScaleError(kind)
  }
  return { width: drawn.readUInt32LE(0), height: drawn.readUInt32LE(4), data: drawn.subarray(HEADER_BYTES) }
}

/** What the child ends with for a picture that it refuses. */
export function exitCodeOf({ kind }: ScaleError): number {
  return FAULT_CODES + SCALE_ERROR_KINDS.indexOf(kind)
}

/** What the child answers: width and height, then the pixels. */
export function toAnswer({ width, height, data }: Pixels): Buffer {
  const header = Buffer.alloc(HEADER_BYTES)
  header.writeUInt32LE(width, 0)
  header.writeUInt32LE(height, 4)
  return Buffer.concat([header, data])
}

/** For the child: ends it once it has used so much processor time. */
export function endAfterCpu(cpuMs: number): void {
  const look = (): void => {
    const { user, system } = process.cpuUsage()
    if ((user + system) / 1000 > cpuMs) process.kill(process.pid, TOO_LONG_SIGNAL)
  }
  setInterval(look, CPU_LOOK_MS).unref()
}
