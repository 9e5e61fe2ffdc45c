// The HTTP server of `depot serve`.
import { setTimeout as sleep } from 'node:timers/promises'
import { updateFileUrls } from '#features/basics/content-images/update-file-urls.ts'
import { withPort } from '#platform/config/load-config.ts'
import type { RateGrantDirectory } from '#platform/http/limits/rate-grants.ts'
import type { Deps } from '#ports/deps.ts'
import { buildApp } from './app.ts'
import { cannotListen, freePort } from './preflight.ts'

export type HttpServer = {
  url: string
  /** Continues to serve for a while, so that load balancers switch to other servers. `cut` ends this early. */
  drain(ms: number, cut: Promise<void>): Promise<void>
  /** Finishes open requests. */
  stop(): Promise<void>
}

/** Time for open requests when the process stops. */
const REQUESTS_MS = 10_000

export async function startHttpServer(deps: Deps, rateGrants: RateGrantDirectory): Promise<HttpServer> {
  const { host, port: requested } = deps.config.http
  // With PORT=0, the public URL depends on the port.
  const port = requested === 0 ? await freePort(host, 0) : requested
  const served = requested === 0 ? { ...deps, config: withPort(deps.config, port) } : deps
  await updateFileUrls(served)
  const app = await buildApp(served, rateGrants)
  const url = await app.listen({ host, port }).catch(async (cause: unknown) => {
    await app.close()
    throw cannotListen(cause, host, port)
  })
  return {
    url,
    async drain(ms, cut) {
      app.drain()
      const timer = new AbortController()
      await Promise.race([sleep(ms, undefined, { signal: timer.signal }).catch(() => undefined), cut])
      timer.abort()
    },
    async stop() {
      const cut = setTimeout(() => {
        deps.log.warn('Open requests were cut off')
        app.server.closeAllConnections()
      }, REQUESTS_MS)
      await app.close()
      clearTimeout(cut)
    },
  }
}
