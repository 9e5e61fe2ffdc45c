// Query parameters of the list of scans.
import Type from 'typebox'
import { Offset } from '#platform/http/query-values.ts'
import { SCAN_STATES } from './views.ts'

export const ScansQuery = Type.Object({
  state: Type.Optional(
    Type.Enum([...SCAN_STATES], {
      default: 'quarantine',
      description: 'Verdict; `pending`: the scan has not finished',
    }),
  ),
  query: Type.Optional(Type.String({ maxLength: 256, description: 'Part of the name or slug of the project' })),
  count: Type.Optional(Type.Integer({ minimum: 0, maximum: 200, default: 100, description: 'Page size' })),
  offset: Offset,
})
