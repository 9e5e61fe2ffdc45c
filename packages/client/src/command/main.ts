#!/usr/bin/env node
// depot-publish: publishes a version from the command line or from CI.
import { run } from './run.ts'

process.exitCode = await run(process.argv.slice(2), {
  env: process.env,
  cwd: process.cwd(),
  result: (text) => process.stdout.write(`${text}\n`),
  note: (text) => process.stderr.write(`${text}\n`),
})
