// `depot serve`: HTTP, jobs and schedules, until a signal ends it.

import { setImmediate } from 'node:timers/promises'
import { readArguments, UsageError } from '#cli/kit/arguments.ts'
import type { Env } from '#cli/kit/with-deps.ts'
import { checkBeforeStart } from '#main/preflight.ts'
import { startDatabase } from '#main/start-database.ts'
import { loadConfig } from '#platform/config/load-config.ts'
import { removedSettings } from '#platform/config/settings-file.ts'
import { createLog, isTextFormat } from '#platform/telemetry/log.ts'
import type { Role, Run } from './run-server.ts'

const ROLES = ['all', 'api', 'worker'] as const

/**
 * The code of the server in parts of about 0.1 to 0.3 s. Loading a part blocks this process; after each part, it continues
 * the start of the database, which consists of several programs.
 */
const PARTS = [() => import('#main/boot.ts'), () => import('#web/routes.ts'), () => import('#main/app.ts')]
/** After this time, a process that hangs while it stops is ended. */
const LAST_RESORT_MS = 30_000
/** Signals within this time are one press of Ctrl-C. */
const SAME_KEY_MS = 2_000
const DATABASE_ENDED = 'the database ended'

/** Resolves when the server has stopped. */
export async function serve(args: readonly string[], env: Env): Promise<void> {
  const role = readRole(readArguments(args, { role: 'string' }).values.role ?? 'all')
  const startedAt = performance.now()
  const stopping = stopSignal()
  const config = loadConfig(env)
  const log = createLog({ level: config.log.level, buffered: true, asText: isTextFormat(config.log.format) })
  for (const warning of removedSettings(env)) log.warn(warning)
  const started = new AsyncDisposableStack()
  try {
    await checkBeforeStart(config, { listens: role !== 'worker' })
    const starting = startDatabase({ config, log }, 'server')
    const database = starting.catch(() => undefined)
    started.defer(async () => (await database)?.stop())
    for (const load of PARTS) {
      await load()
      await setImmediate()
    }
    const { announce, start, warmUp } = await import('./run-server.ts')
    const run: Run = { role, config, log, starting, started }
    const server = await start(run)
    await announce(run, server, startedAt)
    warmUp(run, server)
    const { databaseLost } = server.booted
    const reason = await Promise.race([stopping.promise, databaseLost.then(() => DATABASE_ENDED)])
    log.info({ reason }, 'Stopping')
    if (reason === DATABASE_ENDED) process.exitCode = 1
    else await server.http?.drain(config.http.drainMs, databaseLost)
  } finally {
    setTimeout(() => process.exit(1), LAST_RESORT_MS).unref()
    await started.disposeAsync()
    stopping.forget()
    log.flush()
  }
  log.info('Stopped')
  log.flush()
}

/**
 * SIGTERM and SIGINT ask the process to stop. A second Ctrl-C ends it immediately, as users expect. If npm started the
 * process, one Ctrl-C arrives twice: from the terminal and from npm.
 */
function stopSignal(): { promise: Promise<string>; forget(): void } {
  const { promise, resolve } = Promise.withResolvers<string>()
  let firstAt: number | undefined
  const onSignal = (signal: string): void => {
    if (firstAt !== undefined && signal === 'SIGINT' && performance.now() - firstAt > SAME_KEY_MS) process.exit(130)
    firstAt ??= performance.now()
    resolve(signal)
  }
  process.on('SIGTERM', onSignal)
  process.on('SIGINT', onSignal)
  return { promise, forget: () => process.off('SIGTERM', onSignal).off('SIGINT', onSignal) }
}

function readRole(text: string): Role {
  const role = ROLES.find((known) => known === text)
  if (role === undefined) throw new UsageError(`--role must be one of ${ROLES.join(', ')}`)
  return role
}
