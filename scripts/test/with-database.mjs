// Runs a program with the tests' PostgreSQL: `node scripts/test/with-database.mjs PROGRAM ARGUMENTS`.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { openCache } from './cache.mjs'
import { startDatabase } from './database.mjs'

const database = await startDatabase(openCache())
try {
  const child = spawn(process.execPath, process.argv.slice(2), { stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  const [code] = await once(child, 'exit')
  process.exitCode = code ?? 1
} finally {
  await database.stop()
}
