// Draws an SVG from a stranger in a process of its own. What a drawing costs cannot be told from its text (one line of
// 20,000 letters takes the library 23 seconds, and no limit of time reaches into it), and only a process can be ended.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { buffer } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { invalidInput } from '#lib/errors.ts'
import { createLimiter } from '#lib/limiter.ts'
import { type Pixels, SCALE_ERROR_KINDS, ScaleError, type ScaleRules } from './scale.ts'

const CHILD = fileURLToPath(new URL('./draw-svg-child.ts', import.meta.url))
/** A usual icon takes 30 ms after the third of a second in which the process starts. */
const MS_MAX = 10_000
const HEADER_BYTES = 8
/** Above the codes that Node itself ends with. */
const FAULT_CODES = 64

/** `field` is what an error names; `caller` who uploads: drawings wait fairly between callers. */
export type DrawSvg = (
  svg: Buffer,
  rules: ScaleRules,
  of: { field: string; caller?: string | undefined },
) => Promise<Pixels>

/**
 * Two drawings at a time, apart from other pictures, which do not wait for slow ones.
 * @throws (what it returns) ScaleError; ApiError `invalid_input` naming `field` when drawing takes longer than `msMax`.
 */
export function createDrawSvg(msMax = MS_MAX): DrawSvg {
  const limiter = createLimiter({ running: 2, waiting: 64 })
  return (svg, rules, { field, caller }) => limiter.run(() => draw(svg, rules, field, msMax), caller)
}

async function draw(svg: Buffer, rules: ScaleRules, field: string, msMax: number): Promise<Pixels> {
  const child = spawn(process.execPath, [CHILD, JSON.stringify(rules)], {
    // Nothing of the server's own environment, where its secrets are.
    env: {},
    stdio: ['pipe', 'pipe', 'ignore'],
    timeout: msMax,
    killSignal: 'SIGKILL',
  })
  const closed = once(child, 'close')
  // A child that was ended does not read to the end.
  child.stdin.on('error', () => {})
  child.stdin.end(svg)
  const [drawn, [code, signal]] = await Promise.all([buffer(child.stdout), closed])
  if (signal === 'SIGKILL') throw invalidInput('The SVG takes too long to draw', field)
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
