// `depot serve`: HTTP, jobs and schedules, until a signal ends it.

import { SYSTEM } from '#features/basics/audit/actor.ts'
import { eventsSubscriber } from '#features/operations/backup/events/event-parts.ts'
import { makeFirstAdminLink } from '#features/people/accounts/sign-up/create-first-admin.ts'
import { buildApp, jobHandlers, SCHEDULE } from '#main/app.ts'
import { type Booted, boot } from '#main/boot.ts'
import { migrateInstance } from '#main/migrate-instance.ts'
import { cannotListen, checkBeforeStart, freePort, holdAnalytics } from '#main/preflight.ts'
import { createHttpProcesses, type HttpProcesses } from '#main/processes/supervisor.ts'
import { drain, stopListening } from '#main/stop-listening.ts'
import { type Config, loadConfig, withPort } from '#platform/config/config.ts'
import { createRateGrants, type RateGrantDirectory } from '#platform/http/limits/rate-grants.ts'
import { startWorker } from '#platform/jobs/worker.ts'
import { createLog, isTextFormat, type Log } from '#platform/telemetry/log.ts'
import type { Deps } from '#ports/deps.ts'
import { startStagingSweep } from '#ports/files/staging-sweep.ts'
import { readArguments, UsageError } from './arguments.ts'
import { type Greeting, greeting } from './greeting.ts'
import type { Env } from './with-deps.ts'

const ROLES = ['all', 'api', 'worker'] as const
type Role = (typeof ROLES)[number]

/** The analytics store is opened a moment after the start, so that the first answers do not wait for its library. */
const WARM_AFTER_MS = 1_000
/** Whatever hangs after that does not keep the process. */
const LAST_RESORT_MS = 30_000
/** Signals so close together are one press of Ctrl-C. */
const SAME_KEY_MS = 2_000

/** Resolves when the server has stopped. */
export async function serve(args: readonly string[], env: Env): Promise<void> {
  const role = readRole(readArguments(args, { role: 'string' }).values.role ?? 'all')
  const startedAt = performance.now()
  const stopping = stopSignal()
  const loaded = loadConfig(env)
  const asText = isTextFormat(loaded.log.format)
  const listens = role !== 'worker'
  const isOneOfMany = listens && loaded.http.processes > 1
  const log = createLog({
    level: loaded.log.level,
    buffered: true,
    asText,
    ...(isOneOfMany ? { process: 'main' } : {}),
  })
  await checkBeforeStart(loaded, { listens })
  // What has been started is stopped in reverse, at the end and after a start that failed half-way.
  const started = new AsyncDisposableStack()
  const processes = isOneOfMany ? await startProcesses(loaded, { env, log }) : undefined
  if (processes !== undefined) started.defer(() => processes.stop())
  const booted = await open(loaded, log, { listens, started, processes })
  try {
    const applied = await migrateInstance(booted.deps, SYSTEM)
    if (applied.length > 0) log.info({ migrations: applied }, 'The schema was brought up to date')
    const deps = booted.deps
    const rateGrants = createRateGrants(deps)
    const exports = role === 'worker' ? [] : [eventsSubscriber(deps)]
    await booted.listen([...rateGrants.subscribers, ...deps.search.subscribers, ...exports])
    await rateGrants.refresh()
    const sweep = startStagingSweep(deps)
    started.defer(() => sweep.stop())
    if (role !== 'api') {
      const { pool, metrics } = deps
      const isAlone = booted.embeddedConnection !== undefined
      const worker = await startWorker({ pool, handlers: jobHandlers(deps), schedule: SCHEDULE, log, metrics, isAlone })
      started.defer(() => worker.stop())
    }
    const listening = !listens ? undefined : await listen(booted, { rateGrants, processes })
    if (listening !== undefined) started.defer(listening.stop)
    const address = listening?.address ?? 'no address (jobs only)'
    if (asText && listens) {
      process.stdout.write(await welcome(deps, { address, databaseFolder: booted.databaseFolder }))
    } else {
      const startMs = Math.round(performance.now() - startedAt)
      // Whatever the level: with PORT=0 nothing else says where.
      log.child({}, { level: 'info' }).info({ address, role, start_ms: startMs }, `Depot answers on ${address}`)
      log.flush()
    }
    if (!asText && loaded.http.isBaseUrlGuessed) {
      const { baseUrl } = loaded.http
      log.warn(
        { base_url: baseUrl },
        `BASE_URL is not set: links begin with ${baseUrl}; set it to the address people use`,
      )
    }
    // A shared index may be fed by any process; one of its own is only for those that answer searches.
    if (listening !== undefined || loaded.search.kind === 'opensearch') deps.search.start()
    const warming = listening === undefined ? undefined : setTimeout(booted.warmAnalytics, WARM_AFTER_MS)
    const reason = await Promise.race([stopping.promise, booted.databaseLost.then(() => 'the database ended')])
    clearTimeout(warming)
    log.info({ reason }, 'Stopping')
    if (reason === 'the database ended') process.exitCode = 1
    else if (listening !== undefined) await listening.drain()
  } finally {
    setTimeout(() => process.exit(1), LAST_RESORT_MS).unref()
    await started.disposeAsync()
    stopping.forget()
    log.info('Stopped')
    log.flush()
  }
}

type Started = { started: AsyncDisposableStack; processes: HttpProcesses | undefined }

/** With PORT=0 all of them take the port that is free now. */
async function startProcesses(config: Config, { env, log }: { env: Env; log: Log }): Promise<HttpProcesses> {
  const { host, port, processes: count } = config.http
  const free = port === 0 ? await freePort(host, 0) : port
  return createHttpProcesses({ count, dataDir: config.dataDir, host, port: free, env, log })
}

/** What a start says where people look on. */
async function welcome(deps: Deps, where: Pick<Greeting, 'address' | 'databaseFolder'>): Promise<string> {
  const firstAdmin = await makeFirstAdminLink(deps)
  const project = await deps.db.selectFrom('project').select('id').limit(1).executeTakeFirst()
  const colour = process.stdout.isTTY && process.stdout.hasColors()
  // With PORT=0 the public address has the port that was taken.
  const config = withPort(deps.config, Number(new URL(where.address).port))
  return greeting({ config, ...where, firstAdmin, isEmpty: project === undefined, colour })
}

async function open(
  config: Config,
  log: Log,
  { listens, started, processes }: Started & { listens: boolean },
): Promise<Booted> {
  const hold = (): void => {
    const lock = listens ? holdAnalytics(config) : undefined
    started.defer(() => lock?.release())
  }
  try {
    // Two servers with an embedded database meet at its lock, which names the other's process.
    if (config.database.kind === 'external') hold()
    const booted = await boot({
      ...{ config, log },
      mode: 'server',
      ...(processes === undefined ? {} : { peers: processes.peers }),
    })
    started.defer(booted.close)
    if (config.database.kind === 'embedded') hold()
    return booted
  } catch (error) {
    await started.disposeAsync()
    throw error
  }
}

type Listening = { address: string; drain(): Promise<void>; stop(): Promise<void> }

/** Begins to answer requests, in this process or in several. */
async function listen(
  { deps, databaseLost, ...booted }: Booted,
  { rateGrants, processes }: { rateGrants: RateGrantDirectory; processes: HttpProcesses | undefined },
): Promise<Listening> {
  const { host, port: asked, drainMs } = deps.config.http
  if (processes !== undefined) {
    const starting = processes.start({ deps, databaseLost, ...booted })
    // They end before what they borrow.
    const address = await starting.catch((error) => processes.stop().then(() => Promise.reject(error)))
    return { address, drain: () => processes.drain(drainMs, databaseLost), stop: () => processes.stop() }
  }
  // With PORT=0 the public address is known only once the port is.
  const port = asked === 0 ? await freePort(host, 0) : asked
  const app = await buildApp(asked === 0 ? { ...deps, config: withPort(deps.config, port) } : deps, rateGrants)
  try {
    const address = await app.listen({ host, port })
    return { address, drain: () => drain(app, drainMs, databaseLost), stop: () => stopListening(app, deps.log) }
  } catch (cause) {
    await app.close()
    throw cannotListen(cause, host, port)
  }
}

/**
 * SIGTERM and SIGINT ask the process to stop; a second Ctrl-C ends it at once, as people expect. Below npm one Ctrl-C
 * comes twice, from the terminal and from npm.
 */
function stopSignal(): { promise: Promise<string>; forget(): void } {
  const { promise, resolve } = Promise.withResolvers<string>()
  let askedAt: number | undefined
  const onSignal = (signal: string): void => {
    if (askedAt !== undefined && signal === 'SIGINT' && performance.now() - askedAt > SAME_KEY_MS) process.exit(130)
    askedAt ??= performance.now()
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
