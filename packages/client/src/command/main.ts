#!/usr/bin/env node
// depot-publish: publishes a version from the command line or from CI.
import { Stopped } from './outcome.ts'
import { run } from './run.ts'

const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  // The second signal ends the process immediately.
  process.once(signal, () => stop.abort(new Stopped(`Stopped by ${signal}`)))
}
const code = await run(process.argv.slice(2), {
  env: process.env,
  cwd: process.cwd(),
  result: (text) => process.stdout.write(`${text}\n`),
  note: (text) => process.stderr.write(`${text}\n`),
  signal: stop.signal,
})
// A stopped run has requests in flight.
if (stop.signal.aborted) process.exit(code)
process.exitCode = code
