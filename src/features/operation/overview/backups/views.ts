// Response schema of the known backups.
import Type, { type Static } from 'typebox'
import { NamedObject, Nullable, Timestamp } from '#lib/schema/schema-parts.ts'

export const BackupView = NamedObject('Backup', {
  at: Timestamp,
  id: Nullable(Type.String({ description: 'ID of the backup' })),
  name: Nullable(Type.String({ description: 'Name of the file; null if the backup was written to standard output' })),
  bytes: Nullable(Type.Integer({ description: 'Size of the backup in bytes; null if it is unknown' })),
  rows: Nullable(Type.Integer()),
  files: Nullable(Type.Integer({ description: 'Files in the backup; an incremental backup has only new files' })),
  events: Nullable(Type.Integer()),
  missing: Type.Integer({ description: 'Files that were missing in the store; 0 means that the backup is complete' }),
})
export type BackupView = Static<typeof BackupView>

export const BackupTargetView = NamedObject('BackupTarget', {
  target: Nullable(
    Type.Object(
      {
        address: Type.String({ description: 'BACKUP_TARGET' }),
        every_minutes: Type.Integer({ description: 'Interval of scheduled backups' }),
        at_minute: Type.Integer({ description: 'Minutes after midnight (UTC)' }),
        keep: Type.Integer({ description: 'Number of backups to keep' }),
        encrypted: Type.Boolean({ description: 'Whether BACKUP_RECIPIENT is set' }),
      },
      { description: 'Null without BACKUP_TARGET' },
    ),
  ),
  listed: Nullable(
    Type.Object(
      {
        at: Timestamp,
        backups: Type.Array(
          Type.Object({
            name: Type.String(),
            created: Timestamp,
            bytes: Type.Integer({ description: 'Size of its rows and events' }),
            encrypted: Type.Boolean({ description: 'Only the key can verify or restore it' }),
          }),
          { description: 'Newest first' },
        ),
        files_bytes: Type.Integer({ description: 'Size of the files of all backups' }),
        error: Nullable(Type.String({ description: 'Why the target cannot be read' })),
      },
      { description: 'Content of the target at the last listing, once per hour and after each backup' },
    ),
  ),
  making: Nullable(
    Type.Object(
      {
        state: Type.Enum(['waiting', 'running']),
        progress: Nullable(
          Type.Object({
            step: Type.Enum(['rows', 'files', 'events']),
            done: Type.Integer(),
            total: Nullable(Type.Integer({ description: 'Null if it is unknown' })),
          }),
        ),
      },
      { description: 'The backup that waits or runs' },
    ),
  ),
  failure: Nullable(Type.String({ description: 'Why the last requested or scheduled backup failed' })),
  verifying: Type.Boolean({ description: 'Whether a verification waits or runs' }),
  last_verification: Nullable(
    Type.Object({
      at: Timestamp,
      name: Type.String({ description: 'Name of the backup' }),
      good: Type.Boolean(),
      reason: Nullable(Type.String({ description: 'Why it is not good' })),
    }),
  ),
})
export type BackupTargetView = Static<typeof BackupTargetView>
