// Requests for the entries of archives and for projects by hash.
import Type from 'typebox'
import { Id } from '#lib/schema/schema-parts.ts'
import { Offset } from '#platform/http/query-values.ts'
import { LABELS } from './labels.ts'
import { STATES } from './read-entries.ts'

export const ENTRIES_DEFAULT = 500

export const EntriesQuery = Type.Object({
  against: Type.Optional(Id('ID of another version of the project to compare with')),
  file: Type.Optional(Id('ID of a file; default: all files of the version')),
  query: Type.Optional(Type.String({ maxLength: 256, description: 'Part of the path' })),
  state: Type.Optional(Type.Enum([...STATES, 'different'], { description: '`different`: all except `same`' })),
  label: Type.Optional(Type.Enum([...LABELS], { description: 'Entries with this label' })),
  count: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 1000,
      default: ENTRIES_DEFAULT,
      description: 'Maximum number of entries, in all files together',
    }),
  ),
  offset: Offset,
})

export const EntryTextQuery = Type.Object({
  file: Id('ID of the file'),
  path: Type.String({ minLength: 1, maxLength: 65_535, description: 'Path of the entry in the archive' }),
})

export const HashesBody = Type.Object({
  hashes: Type.Array(Type.String({ pattern: '^[0-9a-fA-F]{128}$', maxLength: 128, description: 'SHA-512' }), {
    minItems: 1,
    maxItems: 100,
  }),
})
