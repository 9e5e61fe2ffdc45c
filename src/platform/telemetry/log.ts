// The structured log: one line of JSON per event on standard output, without secrets.
import pino, { type DestinationStream, type Logger } from 'pino'
import { bufferedDestination } from './log-destination.ts'
import { textLine } from './log-text.ts'

export type Log = Logger

/** Keys whose values are removed, up to two levels deep. Deeper objects are not logged. */
const SECRET_KEYS = [
  'authorization',
  'cookie',
  'password',
  'old_password',
  'new_password',
  'token',
  'access_token',
  'session',
  'key',
  'challenge',
  'secret',
  'flow',
  'email',
  'ip',
]

/** The log of the process. With `buffered`, lines are flushed at least every second and at exit; otherwise immediately. */
export function createLog(options: { level: string; buffered: boolean; destination?: 1 | 2; asText?: boolean }): Log {
  const fd = options.destination ?? 1
  if (options.asText === true) return createTextLog(options.level, fd)
  const destination = options.buffered ? bufferedDestination(fd) : pino.destination({ fd, sync: true, minLength: 0 })
  return createLogTo(destination, options.level)
}

/** Whether the log is text. With `auto`, the log is text if standard output is a terminal. */
export function isTextFormat(format: 'auto' | 'text' | 'json'): boolean {
  return format === 'text' || (format === 'auto' && process.stdout.isTTY)
}

/** Text log; each line is written immediately. */
function createTextLog(level: string, fd: 1 | 2): Log {
  const stream = fd === 1 ? process.stdout : process.stderr
  const colour = stream.isTTY && stream.hasColors()
  return createLogTo({ write: (line) => void stream.write(textLine(line, { colour })) }, level)
}

/** Options of both formats. */
export function createLogTo(destination: DestinationStream, level: string): Log {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: describeError },
      redact: { paths: SECRET_KEYS.flatMap((key) => [key, `*.${key}`]), censor: '[secret]' },
    },
    destination,
  )
}

/** Properties of an error that show its origin. Others contain data: `detail` of a database error is a row. */
const ERROR_KEYS = ['type', 'message', 'stack', 'code', 'errno', 'syscall', 'constraint', 'table', 'column'] as const
const MAIL_ADDRESS = /[^\s<>"'(),:;@]{1,64}@[^\s<>"'(),:;@]{1,255}/g
const DEPOT_TOKEN = /dp[pos]_[0-9A-Za-z]{20,}/g

/** Serialises an error with its causes, without the URLs and tokens in its message. */
function describeError(error: Error): Record<string, unknown> {
  const full = pino.stdSerializers.err(error) as unknown as Record<string, unknown>
  const kept = ERROR_KEYS.filter((key) => full[key] !== undefined)
  const clean = (value: unknown) => (typeof value === 'string' ? withoutPeople(value) : value)
  return Object.fromEntries(kept.map((key) => [key, clean(full[key])]))
}

/** Replaces email addresses and tokens in a message. */
export function withoutPeople(text: string): string {
  return text.replace(MAIL_ADDRESS, '[address]').replace(DEPOT_TOKEN, '[token]')
}

/** A log that discards everything, for commands and tests. */
export function silentLog(): Log {
  return pino({ level: 'silent' })
}
