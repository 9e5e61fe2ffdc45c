// The HTTP server of `depot serve`: in this process, or in several (`processes/supervisor.ts`).
import { setTimeout as sleep } from 'node:timers/promises'
import { updateFileUrls } from '#features/basics/content-images/update-file-urls.ts'
import { withPort } from '#platform/config/load-config.ts'
import type { RateGrantDirectory } from '#platform/http/limits/rate-grants.ts'
import type { App } from '#platform/http/server.ts'
import type { Log } from '#platform/telemetry/log.ts'
import { buildApp } from './app.ts'
import type { Booted } from './boot.ts'
import { cannotListen, freePort } from './preflight.ts'
import type { PeerProcesses } from './processes/peer-processes.ts'

export type HttpServer = {
  peers?: PeerProcesses
  /** Starts to accept requests, and returns the URL. */
  start(booted: Booted, rateGrants: RateGrantDirectory): Promise<string>
  /** Continues to serve for a while, so that load balancers switch to other servers. `cut` ends this early. */
  drain(ms: number, cut: Promise<void>): Promise<void>
  /** Finishes open requests. Idempotent. */
  stop(): Promise<void>
}

/** Time for open requests when the process stops. */
const REQUESTS_MS = 10_000

/** Creates the HTTP server of a single process. */
export function createHttpServer(log: Log): HttpServer {
  let app: App | undefined
  return {
    async start({ deps }, rateGrants) {
      const { host, port: requested } = deps.config.http
      // With PORT=0, the public URL depends on the port.
      const port = requested === 0 ? await freePort(host, 0) : requested
      const served = requested === 0 ? { ...deps, config: withPort(deps.config, port) } : deps
      await updateFileUrls(served)
      app = await buildApp(served, rateGrants)
      return app.listen({ host, port }).catch((cause: unknown) => Promise.reject(cannotListen(cause, host, port)))
    },
    async drain(ms, cut) {
      if (app !== undefined) await drain(app, ms, cut)
    },
    async stop() {
      const stopped = app
      app = undefined
      if (stopped !== undefined) await stopListening(stopped, log)
    },
  }
}

export async function drain(app: Pick<App, 'drain'>, ms: number, cut?: Promise<void>): Promise<void> {
  app.drain()
  const timer = new AbortController()
  const pause = sleep(ms, undefined, { signal: timer.signal }).catch(() => undefined)
  await (cut === undefined ? pause : Promise.race([pause, cut]))
  timer.abort()
}

/** Stops accepting requests, and resolves when the open ones are finished, or cut off after 10 seconds. */
export async function stopListening(app: App, log: Log): Promise<void> {
  const cut = setTimeout(() => {
    log.warn('Open requests were cut off')
    app.server.closeAllConnections()
  }, REQUESTS_MS)
  await app.close()
  clearTimeout(cut)
}
