// Response schemas of the storage.
import Type, { type Static } from 'typebox'
import { NamedObject, Nullable, Timestamp } from '#lib/schema/schema-parts.ts'

const bytes = (description: string) => Type.Integer({ description })

export const StorageView = NamedObject('StorageUsage', {
  measured: Nullable(Timestamp),
  measuring: Type.Boolean({ description: 'Whether a measurement waits or runs' }),
  kinds: Type.Array(
    Type.Object({
      kind: Type.Enum(['version_files', 'images', 'orphaned_files', 'events', 'database']),
      bytes: Nullable(bytes('Size in bytes; null if a service stores this kind')),
      files: Nullable(Type.Integer({ description: 'Number of files; null if there are no separate files' })),
    }),
    { description: 'Empty before the first measurement' },
  ),
  disk: Type.Object(
    {
      free_bytes: bytes('Free space, now'),
      total_bytes: bytes('Size of the disk'),
      used_by_depot: Nullable(bytes('Size of what Depot stores on this disk; null before the first measurement')),
    },
    { description: 'The disk of the data folder' },
  ),
  growth: Type.Object({
    bytes_per_day: Nullable(bytes('Average growth on the disk in the last 30 days; null before the second day')),
    days_left: Nullable(
      Type.Integer({ description: 'Days until the disk is full at this rate; null if the storage does not grow' }),
    ),
  }),
  projects: Type.Array(
    Type.Object({
      id: Type.String(),
      slug: Type.String(),
      name: Type.String(),
      bytes: bytes('Size of the files of its versions'),
      files: Type.Integer(),
    }),
    { maxItems: 50, description: 'The 50 largest projects at the time of the measurement' },
  ),
  orphans: Type.Object(
    {
      files: Type.Integer(),
      bytes: bytes('Size in bytes'),
      listed: Type.Array(Type.Object({ key: Type.String(), bytes: bytes('Size in bytes') }), { maxItems: 100 }),
    },
    { description: 'Files in the store to which nothing refers. `depot doctor` checks them again' },
  ),
  days: Type.Array(
    Type.Object({
      day: Type.String({ format: 'date' }),
      version_bytes: bytes('Files of versions'),
      image_bytes: bytes('Images'),
      event_bytes: Nullable(bytes('Events; null if a service stores them')),
      database_bytes: bytes('Database'),
    }),
    { maxItems: 100, description: 'The measurements of the last 90 days, oldest first' },
  ),
})
export type StorageView = Static<typeof StorageView>
