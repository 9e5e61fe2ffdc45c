// The request for one backup.
import Type from 'typebox'

export const BackupParams = Type.Object({
  name: Type.String({ maxLength: 64, description: 'Name of a backup at BACKUP_TARGET' }),
})
