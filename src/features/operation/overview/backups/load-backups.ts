// The backups that the audit log records.
import { listEntries } from '#features/basics/audit/queries.ts'
import type { Db } from '#platform/db/db.ts'
import type { BackupView } from './views.ts'

/** Returns the newest backups, newest first. */
export async function loadBackups(db: Db, limit: number): Promise<BackupView[]> {
  const entries = await listEntries(db, { action: 'backup.made' }, { limit })
  return entries.map(({ at, details }) => {
    const known = details as Record<string, unknown>
    const number = (key: string): number | null => (typeof known[key] === 'number' ? known[key] : null)
    const text = (key: string): string | null => (typeof known[key] === 'string' ? known[key] : null)
    return {
      at: at.toISOString(),
      id: text('id'),
      name: text('name'),
      bytes: number('bytes'),
      rows: number('rows'),
      files: number('files'),
      events: number('events'),
      missing: number('missing') ?? 0,
    }
  })
}
