#!/usr/bin/env node
// depot-publish: publishes a version from the command line or from CI.
import { Stopped } from './outcome.ts'
import { run } from './run.ts'

const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  // The second signal ends the process immediately.
  process.once(signal, () => stop.abort(new Stopped(`Stopped by ${signal}`)))
}
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // A program that has read enough is not a problem.
  if (error.code === 'EPIPE') return
  process.exitCode = 1
  process.stderr.write(`Cannot write to standard output: ${error.message}\n`)
})
process.stderr.on('error', () => undefined)
const code = await run(process.argv.slice(2), {
  env: process.env,
  cwd: process.cwd(),
  result: (text) => process.stdout.write(`${text}\n`),
  note: (text) => process.stderr.write(`${text}\n`),
  signal: stop.signal,
})
// A stopped run has requests in flight.
if (stop.signal.aborted) process.exit(code)
process.exitCode ??= code
