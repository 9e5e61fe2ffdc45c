// Child process of draw-svg.ts: reads one sanitised SVG, draws it by the rules in its arguments, and writes the pixels.
import { setPriority } from 'node:os'
import { buffer } from 'node:stream/consumers'
import { endAfterCpu, exitCodeOf, toOutput } from './draw-svg.ts'
import { ScaleError, scale } from './scale.ts'

// Requests have priority over drawing.
setPriority(10)
endAfterCpu(Number(process.argv[3]))
const source = await buffer(process.stdin)
try {
  const { pixels } = await scale(source, JSON.parse(process.argv[2] ?? ''))
  process.stdout.write(toOutput(pixels))
} catch (error) {
  if (!(error instanceof ScaleError)) throw error
  process.exitCode = exitCodeOf(error)
}
