// `depot serve`: HTTP, jobs and schedules, until a signal ends it.

import { loadConfig, withPort } from '#config/config.ts'
import { migrate } from '#db/migrate.ts'
import { eventsSubscriber } from '#features/backup/event-parts.ts'
import { createRateGrants, type RateGrantDirectory } from '#http/rate-grants.ts'
import type { App } from '#http/server.ts'
import { startWorker } from '#jobs/worker.ts'
import { OperatorError } from '#lib/operator-error.ts'
import { buildApp, jobHandlers, SCHEDULE } from '#main/app.ts'
import { boot } from '#main/boot.ts'
import type { Deps } from '#main/deps.ts'
import { createLog, type Log } from '#telemetry/log.ts'
import { readArguments, UsageError } from './arguments.ts'
import type { Env } from './with-deps.ts'

const ROLES = ['all', 'api', 'worker'] as const
type Role = (typeof ROLES)[number]

/** How long requests under way may take once the process is asked to stop. */
const DRAIN_MS = 10_000
/** The analytics store is opened a moment after the start, so that the first answers do not wait for its library. */
const WARM_AFTER_MS = 1_000
/** Whatever hangs after that does not keep the process. */
const LAST_RESORT_MS = 30_000

/** Resolves when the server has stopped. */
export async function serve(args: readonly string[], env: Env): Promise<void> {
  const role = readRole(readArguments(args, { role: 'string' }).values.role ?? 'all')
  const startedAt = performance.now()
  const stopping = stopSignal()
  const loaded = loadConfig(env)
  const log = createLog({ level: loaded.log.level, buffered: true })
  const booted = await boot({ config: loaded, log, holder: 'server' })
  // What has been started is stopped in reverse, at the end and after a start that failed half-way.
  const started = new AsyncDisposableStack()
  started.defer(booted.close)
  try {
    const applied = await migrate(booted.deps.pool)
    if (applied.length > 0) log.info({ migrations: applied }, 'The schema was brought up to date')
    const deps = booted.deps
    const rateGrants = createRateGrants(deps)
    const exports = role === 'worker' ? [] : [eventsSubscriber(deps)]
    await booted.listen([...rateGrants.subscribers, ...deps.search.subscribers, ...exports])
    await rateGrants.refresh()
    if (role !== 'api') {
      const { pool, metrics } = deps
      const worker = await startWorker({ pool, handlers: jobHandlers(deps), schedule: SCHEDULE, log, metrics })
      started.defer(() => worker.stop())
    }
    const listening = role === 'worker' ? undefined : await listen(deps, rateGrants, log)
    if (listening !== undefined) started.defer(() => stopListening(listening.app, log))
    const address = listening?.address ?? 'no address (jobs only)'
    log.info({ address, role, start_ms: Math.round(performance.now() - startedAt) }, `Depot is ready on ${address}`)
    process.stdout.write(`Depot answers on ${address}\n`)
    // A shared index may be fed by any process; one of its own is only for those that answer searches.
    if (listening !== undefined || loaded.search.kind === 'opensearch') deps.search.start()
    const warming = listening === undefined ? undefined : setTimeout(booted.warmAnalytics, WARM_AFTER_MS)
    const reason = await Promise.race([stopping.promise, booted.databaseLost.then(() => 'the database ended')])
    clearTimeout(warming)
    log.info({ reason }, 'Stopping')
    if (reason === 'the database ended') process.exitCode = 1
  } finally {
    setTimeout(() => process.exit(1), LAST_RESORT_MS).unref()
    await started.disposeAsync()
    stopping.forget()
    log.info('Stopped')
    log.flush()
  }
}

async function listen(deps: Deps, rateGrants: RateGrantDirectory, log: Log) {
  const { host, port: asked } = deps.config.http
  // With PORT=0 the public address is known only once the port is.
  const port = asked === 0 ? await freePort(host).catch((cause) => Promise.reject(cannotListen(cause, host, 0))) : asked
  const app = await buildApp(asked === 0 ? { ...deps, config: withPort(deps.config, port), log } : deps, rateGrants)
  try {
    return { app, address: await app.listen({ host, port }) }
  } catch (cause) {
    await app.close()
    throw cannotListen(cause, host, port)
  }
}

function cannotListen(cause: unknown, host: string, port: number): unknown {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  const reason = {
    EADDRINUSE: 'another program listens there; set PORT to another one, or 0 for any that is free',
    EADDRNOTAVAIL: 'HOST is no address of this machine',
    EACCES: 'this user may not use that port',
    ENOTFOUND: 'HOST is no name that is known here',
  }[String(code)]
  if (reason === undefined) return cause
  return new OperatorError(`Depot cannot listen on ${host}, port ${port}: ${reason}`, { cause })
}

async function freePort(host: string): Promise<number> {
  const { createServer } = await import('node:net')
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', reject)
    probe.listen(0, host, () => {
      const address = probe.address()
      probe.close(() =>
        typeof address === 'object' && address !== null ? resolve(address.port) : reject(new Error('No port')),
      )
    })
  })
}

async function stopListening(app: App, log: Log): Promise<void> {
  const cut = setTimeout(() => {
    log.warn('Requests under way were cut off')
    app.server.closeAllConnections()
  }, DRAIN_MS)
  await app.close()
  clearTimeout(cut)
}

/** SIGTERM and SIGINT ask the process to stop; a second Ctrl-C ends it at once, as people expect. */
function stopSignal(): { promise: Promise<string>; forget(): void } {
  const { promise, resolve } = Promise.withResolvers<string>()
  let asked = false
  const onSignal = (signal: string): void => {
    if (asked && signal === 'SIGINT') process.exit(130)
    asked = true
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
