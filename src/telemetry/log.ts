// The structured log: one line of JSON an event, on standard output, with secrets taken out.
import pino, { type Logger } from 'pino'

export type Log = Logger

/** Keys whose values never reach a log line, wherever they stand in it (two levels deep, which is how deep we log). */
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

/**
 * The process's log. Lines are buffered for throughput while serving (`buffered`), and flushed at least every second
 * and at exit; command-line runs write at once.
 */
export function createLog(options: { level: string; buffered: boolean; destination?: 1 | 2 }): Log {
  const destination = pino.destination({
    fd: options.destination ?? 1,
    sync: !options.buffered,
    minLength: options.buffered ? 4096 : 0,
  })
  const log = pino(
    {
      level: options.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: SECRET_KEYS.flatMap((key) => [key, `*.${key}`]), censor: '[secret]' },
    },
    destination,
  )
  if (options.buffered) setInterval(() => destination.flush(), 1000).unref()
  return log
}

/** A log that keeps nothing, for commands and tests that have no reader. */
export function silentLog(): Log {
  return pino({ level: 'silent' })
}
