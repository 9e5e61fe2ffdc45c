// Which form the log of a server has: that follows from where it is written to.
import type { Config } from '#config/config.ts'

/** Whether the log is text. */
export function isForPeople({ log }: Pick<Config, 'log'>): boolean {
  return log.format === 'text' || (log.format === 'auto' && process.stdout.isTTY)
}
