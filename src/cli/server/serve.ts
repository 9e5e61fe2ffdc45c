// `depot serve`: HTTP, jobs and schedules, until a signal ends it.

import { readArguments, UsageError } from '#cli/kit/arguments.ts'
import type { Env } from '#cli/kit/with-deps.ts'
import { SYSTEM } from '#features/basics/audit/actor.ts'
import { eventsSubscriber } from '#features/operations/backup/events/event-parts.ts'
import { startRecording } from '#features/operations/overview/figures/record-figures.ts'
import { createDispatcher } from '#features/operations/webhooks/dispatch/dispatcher.ts'
import { makeFirstAdminLink } from '#features/people/accounts/sign-up/create-first-admin.ts'
import { type Booted, boot } from '#main/boot.ts'
import { createHttpServer, type HttpServer } from '#main/http-server.ts'
import { jobHandlers, scheduleOf } from '#main/jobs.ts'
import { migrateInstance } from '#main/migrate-instance.ts'
import { checkBeforeStart, freePort, lockAnalytics } from '#main/preflight.ts'
import { Supervisor } from '#main/processes/supervisor.ts'
import type { Config } from '#platform/config/config.ts'
import { loadConfig, withPort } from '#platform/config/load-config.ts'
import { VERSION } from '#platform/config/version.ts'
import { createRateGrants } from '#platform/http/limits/rate-grants.ts'
import { startWorker } from '#platform/jobs/worker.ts'
import { createLog, isTextFormat, type Log } from '#platform/telemetry/log.ts'
import { startStagingSweep } from '#ports/files/staging.ts'
import { greeting } from './greeting.ts'

const ROLES = ['all', 'api', 'worker'] as const
type Role = (typeof ROLES)[number]

/** Delay before the analytics store is opened, because loading its library would delay the first responses. */
const WARM_AFTER_MS = 1_000
/** After this time, a process that hangs while it stops is ended. */
const LAST_RESORT_MS = 30_000
/** Signals within this time are one press of Ctrl-C. */
const SAME_KEY_MS = 2_000
const DATABASE_ENDED = 'the database ended'

type Run = {
  role: Role
  config: Config
  log: Log
  env: Env
  /** Is disposed in reverse order, at the end or after a failed start. */
  started: AsyncDisposableStack
}

type Server = { booted: Booted; http: HttpServer | undefined; url: string | undefined }

/** Resolves when the server has stopped. */
export async function serve(args: readonly string[], env: Env): Promise<void> {
  const role = readRole(readArguments(args, { role: 'string' }).values.role ?? 'all')
  const startedAt = performance.now()
  const stopping = stopSignal()
  const config = loadConfig(env)
  const isOneOfSeveral = role !== 'worker' && config.http.processes > 1
  const log = createLog({
    level: config.log.level,
    buffered: true,
    asText: isTextFormat(config.log.format),
    ...(isOneOfSeveral ? { process: 'main' } : {}),
  })
  const started = new AsyncDisposableStack()
  const run: Run = { role, config, log, env, started }
  try {
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

/** Opens everything, brings the schema up to date, and starts the worker and the HTTP server. */
async function start(run: Run): Promise<Server> {
  const { role, config, log, started } = run
  await checkBeforeStart(config, { listens: role !== 'worker' })
  const http = role === 'worker' ? undefined : await openHttp(run)
  started.defer(async () => http?.stop())
  const booted = await open(run, http)
  // The HTTP server stops before the resources that it uses.
  started.defer(async () => http?.stop())
  const { deps } = booted
  const applied = await migrateInstance(deps, SYSTEM, {
    onProgress: (done, total, { name, about }) =>
      log.info({ migration: name }, `Applying migration ${done + 1} of ${total}: ${about}`),
    onWait: () => log.info('Waiting for another process that applies migrations'),
  })
  if (applied.length > 0) log.info({ migrations: applied }, 'Updated the database schema')
  const rateGrants = createRateGrants(deps)
  const exports = role === 'worker' ? [] : [eventsSubscriber(deps)]
  await booted.listen([...rateGrants.subscribers, ...deps.tags.subscribers, ...deps.search.subscribers, ...exports])
  await Promise.all([rateGrants.refresh(), deps.tags.refresh()])
  const figures = startRecording(deps)
  started.defer(figures.stop)
  const sweep = startStagingSweep(deps)
  started.defer(() => sweep.stop())
  if (role !== 'api') {
    const isAlone = booted.embedded !== undefined
    const worker = await startWorker({ ...deps, handlers: jobHandlers(deps), schedule: scheduleOf(config), isAlone })
    started.defer(() => worker.stop())
    const dispatcher = createDispatcher({ ...deps, version: VERSION })
    dispatcher.start()
    started.defer(() => dispatcher.stop())
  }
  const url = await http?.start(booted, rateGrants)
  return { booted, http, url }
}

/** Starts what the first responses must not wait for. */
function warmUp({ config, started }: Run, { booted, http }: Server): void {
  // Any process can feed a shared index; only processes that serve searches need an embedded one.
  if (http !== undefined || config.search.kind === 'opensearch') booted.deps.search.start()
  if (http === undefined) return
  const timer = setTimeout(booted.warmAnalytics, WARM_AFTER_MS)
  started.defer(async () => clearTimeout(timer))
}

async function openHttp({ config, env, log }: Run): Promise<HttpServer> {
  const { host, port: requested, processes: count } = config.http
  if (count === 1) return createHttpServer(log)
  // With PORT=0, all processes use the same free port.
  const port = requested === 0 ? await freePort(host, 0) : requested
  return Supervisor.open({ count, dataDir: config.dataDir, host, port, env, log })
}

async function open({ config, log, started }: Run, http: HttpServer | undefined): Promise<Booted> {
  const lock = (): void => {
    const analytics = http === undefined ? undefined : lockAnalytics(config)
    started.defer(async () => analytics?.release())
  }
  // Two servers on one embedded database are better detected by its own lock, which names the other process.
  if (config.database.kind === 'external') lock()
  const booted = await boot({ config, log, mode: 'server', ...(http?.peers && { peers: http.peers }) })
  started.defer(booted.close)
  if (config.database.kind === 'embedded') lock()
  return booted
}

/** Prints the URL: with a greeting for a person at a terminal, otherwise as a line of the log. */
async function announce({ config, log, role }: Run, { booted, url }: Server, startedAt: number): Promise<void> {
  if (isTextFormat(config.log.format) && url !== undefined) {
    process.stdout.write(await welcome(booted, url))
    return
  }
  const address = url ?? 'no address (jobs only)'
  const startMs = Math.round(performance.now() - startedAt)
  // At every log level, because with PORT=0 nothing else states the port.
  log.child({}, { level: 'info' }).info({ address, role, start_ms: startMs }, `Depot listens on ${address}`)
  log.flush()
  if (config.http.isBaseUrlGuessed) {
    const { baseUrl } = config.http
    log.warn({ base_url: baseUrl }, `BASE_URL is not set: links begin with ${baseUrl}. Set it to the public URL`)
  }
}

async function welcome({ deps, embedded }: Booted, url: string): Promise<string> {
  const firstAdmin = await makeFirstAdminLink(deps)
  const project = await deps.db.selectFrom('project').select('id').limit(1).executeTakeFirst()
  return greeting({
    // With PORT=0, the public URL has the port that was chosen.
    config: withPort(deps.config, Number(new URL(url).port)),
    url,
    databaseFolder: embedded?.folder,
    firstAdmin,
    isEmpty: project === undefined,
    colour: process.stdout.isTTY && process.stdout.hasColors(),
  })
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
