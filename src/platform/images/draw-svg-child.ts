// The process behind draw-svg.ts: reads one clean SVG, draws it by the rules in its arguments, writes the pixels and ends.
import { setPriority } from 'node:os'
import { buffer } from 'node:stream/consumers'
import { endAfterCpu, exitCodeOf, toAnswer } from './draw-svg.ts'
import { ScaleError, scale } from './scale.ts'

// Requests go before drawings.
setPriority(10)
endAfterCpu(Number(process.argv[3]))
const source = await buffer(process.stdin)
try {
  const { pixels } = await scale(source, JSON.parse(process.argv[2] ?? ''))
  process.stdout.write(toAnswer(pixels))
} catch (error) {
  if (!(error instanceof ScaleError)) throw error
  process.exitCode = exitCodeOf(error)
}
