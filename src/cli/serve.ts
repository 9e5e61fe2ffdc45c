// `depot serve`: HTTP, jobs and schedules, until a signal ends it.
import { migrate } from '#db/migrate.ts'
import { createRateGrants, type RateGrantDirectory } from '#http/rate-grants.ts'
import { startWorker, type Worker } from '#jobs/worker.ts'
import { createLog, type Log } from '#telemetry/log.ts'
import { buildApp, jobHandlers, SCHEDULE } from '../app.ts'
import { boot } from '../boot.ts'
import { loadConfig, withPort } from '../config.ts'
import type { Deps } from '../deps.ts'
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
  let stopServing = async (): Promise<void> => {}
  try {
    const applied = await migrate(booted.deps.pool)
    if (applied.length > 0) log.info({ migrations: applied }, 'The schema was brought up to date')
    const deps = booted.deps
    const rateGrants = createRateGrants(deps)
    await booted.listen([...rateGrants.subscribers, ...deps.search.subscribers])
    await rateGrants.refresh()
    const worker =
      role === 'api'
        ? undefined
        : await startWorker({
            pool: deps.pool,
            handlers: jobHandlers(deps),
            schedule: SCHEDULE,
            log,
            metrics: deps.metrics,
          })
    const listening = role === 'worker' ? undefined : await listen(deps, rateGrants, log)
    stopServing = () => stopAll(listening, worker, log)
    const address = listening?.address ?? 'no address (jobs only)'
    log.info({ address, role, start_ms: Math.round(performance.now() - startedAt) }, `Depot is ready on ${address}`)
    process.stdout.write(`Depot answers on ${address}\n`)
    if (listening !== undefined) deps.search.start()
    const warming = listening === undefined ? undefined : setTimeout(booted.warmAnalytics, WARM_AFTER_MS)
    const reason = await Promise.race([stopping.promise, booted.databaseLost.then(() => 'the database ended')])
    clearTimeout(warming)
    log.info({ reason }, 'Stopping')
    if (reason === 'the database ended') process.exitCode = 1
  } finally {
    setTimeout(() => process.exit(1), LAST_RESORT_MS).unref()
    await stopServing()
    await booted.close()
    stopping.forget()
    log.info('Stopped')
    log.flush()
  }
}

async function listen(deps: Deps, rateGrants: RateGrantDirectory, log: Log) {
  const { http } = deps.config
  // With PORT=0 the public address is known only once the port is.
  if (http.port !== 0) {
    const app = await buildApp(deps, rateGrants)
    return { app, address: await app.listen({ host: http.host, port: http.port }) }
  }
  const port = await freePort(http.host)
  const app = await buildApp({ ...deps, config: withPort(deps.config, port), log }, rateGrants)
  return { app, address: await app.listen({ host: http.host, port }) }
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

async function stopAll(
  listening: Awaited<ReturnType<typeof listen>> | undefined,
  worker: Worker | undefined,
  log: Log,
): Promise<void> {
  if (listening !== undefined) {
    const { server } = listening.app
    const cut = setTimeout(() => {
      log.warn('Requests under way were cut off')
      server.closeAllConnections()
    }, DRAIN_MS)
    await listening.app.close()
    clearTimeout(cut)
  }
  await worker?.stop()
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
