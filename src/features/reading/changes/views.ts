// Responses of the change feed.
import Type, { type Static } from 'typebox'
import { NamedObject, Timestamp } from '#lib/schema/schema-parts.ts'
import { formatCursor } from './cursor.ts'
import type { ChangeRow } from './queries.ts'
import { CHANGE_KINDS } from './requests.ts'

export const ChangeView = NamedObject('Change', {
  cursor: Type.String({ description: 'Value of `since` that continues after this change' }),
  kind: Type.Enum([...CHANGE_KINDS]),
  id: Type.String(),
  project_id: Type.Optional(Type.String({ description: 'Project of a version' })),
  state: Type.Enum(['present', 'removed'], {
    description: '`removed`: deleted, or no longer public. The removal of a project includes its versions',
  }),
  revision: Type.Optional(
    Type.Integer({ minimum: 1, description: 'Revision when the change was numbered; not for `removed`' }),
  ),
  changed: Timestamp,
})
export type ChangeView = Static<typeof ChangeView>

export const ChangesView = NamedObject('Changes', {
  changes: Type.Array(ChangeView, { description: 'In the order of their commits; each object once' }),
  next: Type.String({ description: 'Value of `since` for the next page, also if this page is empty' }),
  more: Type.Boolean({ description: 'Whether there are more changes at present' }),
  latest: Type.String({ description: 'Cursor of the newest change' }),
})
export type ChangesView = Static<typeof ChangesView>

export function toChangeView(row: ChangeRow, epoch: string, walkedFrom: bigint | undefined): ChangeView {
  return {
    cursor: formatCursor({ epoch, number: BigInt(row.number), walkedFrom }),
    kind: row.kind,
    id: row.id,
    ...(row.project_id === null ? {} : { project_id: row.project_id }),
    state: row.is_present ? 'present' : 'removed',
    ...(row.is_present ? { revision: row.revision } : {}),
    changed: row.changed,
  }
}
