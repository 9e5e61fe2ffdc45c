/** Reasons of failed calls. The messages are public and never contain an IP address. */
const MESSAGES = {
  refused_address: 'The URL leads to an address that this instance does not call',
  dns: 'The host name could not be resolved',
  timeout: 'The server did not respond in time',
  tls: 'No secure connection to the server was possible',
  connection: 'The connection to the server failed',
  too_large: 'The response of the server is too large',
  off: 'The operator of this instance switched outgoing calls off',
} as const

export type OutgoingErrorCode = keyof typeof MESSAGES

/** A call that failed. It has no cause, because errors of sockets contain IP addresses. */
export class OutgoingError extends Error {
  override name = 'OutgoingError'
  readonly code: OutgoingErrorCode
  /** Code of the system or of TLS, such as `ECONNREFUSED` or `CERT_HAS_EXPIRED`. */
  readonly detail: string | undefined

  constructor(code: OutgoingErrorCode, cause?: unknown) {
    super(MESSAGES[code])
    this.code = code
    const detail = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
    this.detail = /^[A-Z][A-Z0-9_]{1,60}$/.test(detail) ? detail : undefined
  }
}
