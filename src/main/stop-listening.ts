// The last part of a server's life: turning balancers away, then finishing what is under way.
import { setTimeout as sleep } from 'node:timers/promises'
import type { App } from '#platform/http/server.ts'
import type { Log } from '#platform/telemetry/log.ts'

/** How long requests under way may take once the process is asked to stop. */
const REQUESTS_MS = 10_000

/** Goes on answering for a while, so that balancers turn to other processes first; `cut` ends it before its time. */
export async function drain(
  app: Pick<App, 'drain'>,
  ms: number,
  cut: Promise<void> = new Promise(() => {}),
): Promise<void> {
  app.drain()
  const over = new AbortController()
  await Promise.race([sleep(ms, undefined, { signal: over.signal }).catch(() => {}), cut])
  over.abort()
}

/** Takes no more requests, and resolves when those under way are answered, or cut off after ten seconds. */
export async function stopListening(app: App, log: Log): Promise<void> {
  const cut = setTimeout(() => {
    log.warn('Requests under way were cut off')
    app.server.closeAllConnections()
  }, REQUESTS_MS)
  await app.close()
  clearTimeout(cut)
}
