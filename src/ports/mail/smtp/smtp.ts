// Mail through a mail server.
import { createTransport } from 'nodemailer'
import { type Mail, mailError, toEnvelope } from '../mail.ts'

const CONNECTIONS_MAX = 5

/** Messages that may wait for a connection; more are refused, so that a slow server does not fill the memory. */
const WAITING_MAX = 1000

/** How long each step may take: name look-up, connection, greeting, and silence in between. */
const STEP_TIMEOUT_MS = 10_000

type Options = {
  /** `smtp://` or `smtps://`, with user and password where the server wants them. */
  url: string
  from: string
  /** Milliseconds since the epoch. */
  now: () => number
  stepTimeoutMs?: number
}

/**
 * Sends over up to five kept connections to the server at `url`. With `smtp://` the connection is encrypted when the
 * server offers it (STARTTLS). A message is sent when the server has accepted it; nothing is tried twice here.
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
        await transport.sendMail(envelope)
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

/** The password of the address, and the login, in each form in which they are sent or written. */
function secretsOf(url: string): string[] {
  const { username, password } = new URL(url)
  if (password === '') return []
  const [user, word] = [decodeURIComponent(username), decodeURIComponent(password)]
  const base64 = (text: string): string => Buffer.from(text).toString('base64')
  return [base64(`\0${user}\0${word}`), base64(word), password, encodeURIComponent(word), word]
}

/** Servers repeat in their refusals what they were sent, and the refusal goes to the log. */
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
