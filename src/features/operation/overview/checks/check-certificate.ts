// Reads the certificate that visitors of this instance get, usually that of the proxy.
import { readCertificateEnd } from '#platform/outgoing/read-certificate.ts'
import type { Deps } from '#ports/deps.ts'
import { saveCheck } from './queries.ts'

/** Stores the end of the certificate at `BASE_URL`. Stores nothing if the URL has no TLS, or if nothing answers there. */
export async function checkCertificate(
  { db, config, now, log }: Pick<Deps, 'db' | 'config' | 'now' | 'log'>,
  signal: AbortSignal,
): Promise<void> {
  const url = new URL(config.http.baseUrl)
  if (url.protocol !== 'https:') return
  try {
    const until = await readCertificateEnd(url, signal)
    await saveCheck(db, 'certificate', { value: { until: until.toISOString() }, at: new Date(now()) })
  } catch (err) {
    signal.throwIfAborted()
    log.info({ err }, 'Could not read the certificate of BASE_URL; Depot will try again')
  }
}
