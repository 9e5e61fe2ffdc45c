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
