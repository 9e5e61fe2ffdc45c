// Damage of stored data that this process has found: one line of the log per minute at level error, and a metric.
import { MINUTE_MS } from '#lib/time.ts'
import type { Telemetry } from './events.ts'
import { observeDamage } from './observe.ts'

export const DAMAGED_PARTS = ['database', 'events'] as const
export type DamagedPart = (typeof DAMAGED_PARTS)[number]

export type Damage = { note(part: DamagedPart, err: unknown): void }

const SENTENCES: Readonly<Record<DamagedPart, string>> = {
  database: 'PostgreSQL found a damaged page. Run `depot doctor`, which names the table and what to do',
  events: 'The analytics file is damaged. Stop Depot and run `depot restore latest --only events`',
}

/** Creates the record of a process. `onDamage` is called as often as a line is logged. */
export function createDamage({ log, metrics }: Telemetry, onDamage: (part: DamagedPart) => void): Damage {
  const loggedAt = new Map<DamagedPart, number>()
  observeDamage(metrics, () => DAMAGED_PARTS.map((part) => [{ part }, Number(loggedAt.has(part))]))
  return {
    note(part, err) {
      const last = loggedAt.get(part)
      if (last !== undefined && performance.now() - last < MINUTE_MS) return
      loggedAt.set(part, performance.now())
      log.error({ err }, SENTENCES[part])
      onDamage(part)
    },
  }
}
