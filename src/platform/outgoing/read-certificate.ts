import { once } from 'node:events'
import { isIP } from 'node:net'
import { connect } from 'node:tls'
import { hostOf } from './open-socket.ts'

const TIMEOUT_MS = 10_000

/**
 * Returns when the certificate at an https URL of the operator ends, also if it has ended or nobody trusts it.
 * @throws Error if no connection with TLS opens within 10 seconds.
 */
export async function readCertificateEnd(url: URL, signal: AbortSignal): Promise<Date> {
  const host = hostOf(url)
  // Nothing is sent: only the end of the certificate matters.
  const socket = connect({
    host,
    port: Number(url.port) || 443,
    rejectUnauthorized: false,
    ...(isIP(host) === 0 ? { servername: host } : {}),
  })
  try {
    await once(socket, 'secureConnect', { signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]) })
    return new Date(socket.getPeerCertificate().valid_to)
  } finally {
    socket.on('error', () => undefined).destroy()
  }
}
