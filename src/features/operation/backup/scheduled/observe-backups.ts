// Metrics of backups.
import { gauge, type Registered } from '#platform/telemetry/observe.ts'

/** Registers the age of the last good backup, which all processes share, and the interval of scheduled backups. */
export function observeBackups(
  metrics: Registered,
  { intervalSeconds, ageSeconds }: { intervalSeconds: number | undefined; ageSeconds: () => Promise<number> },
): void {
  gauge(metrics, {
    name: 'depot_backup_age_seconds',
    help: 'Time since the last complete backup, or since the creation of an instance without a backup',
    read: () => ageSeconds().catch(() => undefined),
  })
  gauge(metrics, {
    name: 'depot_backup_interval_seconds',
    help: 'Interval of scheduled backups; there is no value if none are scheduled',
    read: () => intervalSeconds,
  })
}
