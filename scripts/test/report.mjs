// Prints the result of a run: each failure when it happens, then the slowest files, all failures once more, and the counts.
import { relative } from 'node:path'
import { inspect } from 'node:util'

const SLOWEST = 10
const REASON_LENGTH = 300

/** Reads the events of `run()` to their end. */
export async function report(events) {
  const startedAt = performance.now()
  const counts = { passed: 0, failed: 0, skipped: 0 }
  const durations = {}
  const failures = []
  const skips = []
  for await (const { type, data } of events) {
    if (type === 'test:stdout') process.stdout.write(data.message)
    if (type === 'test:stderr') process.stderr.write(data.message)
    if (type !== 'test:complete') continue
    const { details, name } = data
    if (isFile(data)) {
      durations[relative('', name)] = details.duration_ms
      if (process.env.CI) console.log(`${formatSeconds(details.duration_ms)}  ${relative('', name)}`)
    }
    if (!details.passed && details.error?.failureType !== 'subtestsFailed') {
      counts.failed += 1
      failures.push(describeFailure(data))
      console.error(failures.at(-1))
    } else if (data.skip !== undefined || data.todo !== undefined) {
      counts.skipped += 1
      skips.push(describeSkip(data))
    } else if (details.passed && !isFile(data) && details.type !== 'suite') {
      counts.passed += 1
    }
  }
  printSlowest(durations)
  for (const skip of skips) console.log(`Skipped: ${skip}`)
  // Once more: CI systems often keep only the end of a long output.
  if (failures.length > 0) console.log(`Failed tests:\n${failures.join('')}`)
  const { passed, failed, skipped } = counts
  console.log(
    `${passed} passed, ${failed} failed, ${skipped} skipped in ${formatSeconds(performance.now() - startedAt).trim()}`,
  )
  return { isSuccess: failed === 0 && passed + skipped > 0, durations }
}

const formatSeconds = (ms) => `${(ms / 1000).toFixed(1).padStart(8)} s`

const isFile = ({ name, nesting }) => nesting === 0 && name.endsWith('.test.ts')

function describeFailure({ name, file, line, details }) {
  const error = details.error?.cause ?? details.error
  const text = typeof error === 'string' ? error : (error?.stack ?? inspect(error))
  const lines = text.split('\n').filter((text) => !/^\s+at .*\(?node:internal/.test(text))
  return `\n✖ ${name}\n  ${relative('', file ?? '')}:${line}\n  ${lines.join('\n  ')}\n`
}

/** One line: the reason can be the output of a command. */
function describeSkip({ name, file, skip, todo }) {
  const reason = String(skip ?? todo).replace(/\s+/g, ' ')
  return `${relative('', file ?? '')}: ${name} (${reason.slice(0, REASON_LENGTH)})`
}

function printSlowest(durations) {
  const slowest = Object.entries(durations).sort(([, a], [, b]) => b - a)
  const sum = slowest.reduce((sum, [, ms]) => sum + ms, 0)
  if (slowest.length > 1) console.log(`Slowest files of ${formatSeconds(sum).trim()}:`)
  for (const [file, ms] of slowest.slice(0, SLOWEST)) {
    console.log(`${formatSeconds(ms)} ${((100 * ms) / sum).toFixed(0).padStart(3)} %  ${file}`)
  }
}
