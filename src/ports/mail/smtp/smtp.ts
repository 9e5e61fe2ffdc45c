// Sends email through a mail server.
import { createTransport } from 'nodemailer'
import { type Mail, mailError, toEnvelope } from '../mail.ts'

const CONNECTIONS_MAX = 5

/** Maximum number of messages that wait for a connection, so that a slow server does not fill the memory. */
const WAITING_MAX = 1000

/** Time limit of each step: DNS, connection, greeting, and each response. */
const STEP_TIMEOUT_MS = 10_000

type Options = {
  /** `smtp://` or `smtps://`, optionally with user and password. */
  url: string
  from: string
  /** Milliseconds since 1970. */
  now: () => number
  stepTimeoutMs?: number
}

/**
 * Sends messages over up to five persistent connections. With `smtp://`, the connection is encrypted if the server supports
 * STARTTLS. `send` resolves when the server has accepted the message, and does not retry.
 */
export function createSmtpMail({ url, from, now, stepTimeoutMs = STEP_TIMEOUT_MS }: Options): Mail {
  const transport = createTransport({
    url,
    pool: true,
    maxConnections: CONNECTIONS_MAX,
    maxMessages: 100,
    dnsTimeout: stepTimeoutMs,
    connectionTimeout: stepTimeoutMs,
    greetingTimeout: stepTimeoutMs,
    socketTimeout: stepTimeoutMs,
  })
  const secrets = secretsOf(url)
  let waiting = 0

  return {
    async send(message) {
      const envelope = toEnvelope(from, message, now())
      if (waiting >= WAITING_MAX) throw mailError(new Error(`${WAITING_MAX} messages are waiting to be sent`))
      waiting += 1
      try {
        return (await transport.sendMail(envelope)).response
      } catch (failure) {
        throw mailError(withoutSecrets(failure, secrets))
      } finally {
        waiting -= 1
      }
    },
    async check() {
      try {
        await transport.verify()
      } catch (failure) {
        throw mailError(withoutSecrets(failure, secrets))
      }
    },
    close: async () => transport.close(),
  }
}

/** Returns the password and the login in each encoding in which they can occur. */
function secretsOf(url: string): string[] {
  const { username, password } = new URL(url)
  if (password === '') return []
  const [user, secret] = [decodeURIComponent(username), decodeURIComponent(password)]
  const base64 = (text: string): string => Buffer.from(text).toString('base64')
  return [base64(`\0${user}\0${secret}`), base64(secret), password, encodeURIComponent(secret), secret]
}

/** Removes secrets from an error before it is logged, because servers repeat commands in their error messages. */
function withoutSecrets(failure: unknown, secrets: readonly string[]): unknown {
  if (!(failure instanceof Error)) return failure
  for (const key of ['message', 'stack', 'response'] as const) {
    const text = (failure as Error & { response?: unknown })[key]
    if (typeof text !== 'string') continue
    const clean = secrets.reduce((rest, secret) => rest.replaceAll(secret, '[password]'), text)
    Object.defineProperty(failure, key, { value: clean, configurable: true, writable: true })
  }
  return failure
}
