// The parts of `depot serve`: opens everything, starts the worker and the HTTP server, and prints the URL.

import { SYSTEM } from '#features/basics/audit/actor.ts'
import { quietSince } from '#features/basics/settings/quiet.ts'
import { createDispatcher } from '#features/exchange/webhooks/dispatch/dispatcher.ts'
import { eventsSubscriber } from '#features/operation/backup/events/event-parts.ts'
import { finishPendingRestore } from '#features/operation/backup/restore-backup.ts'
import { startRecording } from '#features/operation/overview/figures/record-figures.ts'
import { makeFirstAdminLink } from '#features/people/accounts/sign-up/create-first-admin.ts'
import { jobHandlers } from '#main/app.ts'
import { type Booted, boot } from '#main/boot.ts'
import { type HttpServer, startHttpServer } from '#main/http-server.ts'
import { migrateInstance } from '#main/migrate-instance.ts'
import { lockAnalytics } from '#main/preflight.ts'
import type { Config } from '#platform/config/config.ts'
import { withPort } from '#platform/config/load-config.ts'
import { VERSION } from '#platform/config/version.ts'
import type { EmbeddedPostgres } from '#platform/embedded-postgres/embedded-postgres.ts'
import { createRateGrants } from '#platform/http/limits/rate-grants.ts'
import { startWorker } from '#platform/jobs/worker.ts'
import { isTextFormat, type Log } from '#platform/telemetry/log.ts'
import { startStagingSweep } from '#ports/files/staging.ts'
import { greeting } from './greeting.ts'
import { type Background, startUnlessQuiet } from './start-unless-quiet.ts'

/** Delay before the analytics store is opened, because loading its library would delay the first responses. */
const WARM_AFTER_MS = 1_000

export type Role = 'all' | 'api' | 'worker'

export type Run = {
  role: Role
  config: Config
  log: Log
  /** The embedded database. */
  starting: Promise<EmbeddedPostgres | undefined>
  /** Is disposed in reverse order, at the end or after a failed start. */
  started: AsyncDisposableStack
}

type Server = { booted: Booted; http: HttpServer | undefined }

/** Opens everything, brings the schema up to date, and starts the worker and the HTTP server. */
export async function start(run: Run): Promise<Server> {
  const { role, log, started } = run
  const booted = await open(run)
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
    await finishPendingRestore(deps)
    const background = await startUnlessQuiet(deps, () => startBackground(booted))
    started.defer(() => background.stop())
  }
  if (role === 'worker') return { booted, http: undefined }
  const http = await startHttpServer(deps, rateGrants)
  started.defer(http.stop)
  return { booted, http }
}

/** Starts to run jobs and to send webhooks. */
async function startBackground({ deps, embedded }: Booted): Promise<Background> {
  const isAlone = embedded !== undefined
  const worker = await startWorker({ ...deps, handlers: jobHandlers(deps), isAlone })
  const dispatcher = createDispatcher({ ...deps, version: VERSION })
  dispatcher.start()
  return {
    stop: async () => {
      await dispatcher.stop()
      await worker.stop()
    },
  }
}

/** Starts what the first responses must not wait for. */
export function warmUp({ config, started }: Run, { booted, http }: Server): void {
  // Any process can feed a shared index; only processes that serve searches need an embedded one.
  if (http !== undefined || config.search.kind === 'opensearch') booted.deps.search.start()
  if (http === undefined) return
  const timer = setTimeout(booted.warmAnalytics, WARM_AFTER_MS)
  started.defer(async () => clearTimeout(timer))
}

async function open({ role, config, log, starting, started }: Run): Promise<Booted> {
  const lock = (): void => {
    const analytics = role === 'worker' ? undefined : lockAnalytics(config)
    started.defer(async () => analytics?.release())
  }
  // Two servers on one embedded database are better detected by its own lock, which names the other process.
  if (config.database.kind === 'external') lock()
  const booted = await boot({ config, log, mode: 'server', starting })
  started.defer(booted.close)
  if (config.database.kind === 'embedded') lock()
  return booted
}

/** Prints the URL: with a greeting for a person at a terminal, otherwise as a line of the log. */
export async function announce({ config, log, role }: Run, { booted, http }: Server, startedAt: number): Promise<void> {
  const url = http?.url
  if (isTextFormat(config.log.format) && url !== undefined) {
    process.stdout.write(await welcome(booted, url))
    return
  }
  const started = url === undefined ? `Depot runs jobs (role ${role})` : `Depot listens on ${url}`
  const startMs = Math.round(performance.now() - startedAt)
  // At every log level, because with PORT=0 nothing else states the port.
  log.child({}, { level: 'info' }).info({ address: url, role, start_ms: startMs }, started)
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
    isQuiet: (await quietSince(deps.db)) !== null,
    colour: process.stdout.isTTY && process.stdout.hasColors(),
  })
}
