import { Value } from 'typebox/value'
import type { Actor } from '#features/basics/audit/actor.ts'
import { notFound, validationError } from '#lib/errors.ts'
import { TAG_LISTS, type TagListName } from '#taxonomy/tag-lists.ts'
import { editTagList, type TagEditDeps } from '../edit/edit-tag-list.ts'
import { idOf, isOrdered, moved, nameOf, type TagRow } from '../edit/tag-row.ts'

export type TagPatch = Readonly<Record<string, unknown>> & { position?: number; revision?: number }

/**
 * Changes fields of a tag, and its position. null removes a field that the tag can lack.
 * @throws ApiError `not_found`, `conflict`, `validation_error` naming a field.
 */
export async function changeTag(
  deps: TagEditDeps,
  actor: Actor,
  { list, id, patch }: { list: TagListName; id: string; patch: TagPatch },
): Promise<void> {
  const { position, revision, ...fields } = patch
  if (position !== undefined && !isOrdered(list))
    throw validationError('position', 'cannot be set: the list is ordered by name or by date')
  const [field = 'position'] = Object.keys(fields)
  await editTagList(deps, actor, { list, seen: revision, field }, (rows) => {
    const row = rows.find((other) => idOf(other) === id)
    if (row === undefined) throw notFound('tag')
    const next = withFields(list, row, fields)
    const changed = rows.map((other) => (other === row ? next : other))
    return { rows: position === undefined ? changed : moved(changed, next, position), changed: nameOf(row) }
  })
}

function withFields(list: TagListName, row: TagRow, fields: Readonly<Record<string, unknown>>): TagRow {
  const { properties, required } = TAG_LISTS[list].items
  const next: Record<string, unknown> = { ...row }
  for (const [name, value] of Object.entries(fields)) {
    // The values of a file and those of the field itself exclude each other.
    if (name === 'options' && value !== null) delete next['values']
    const canLack = !(required as readonly string[]).includes(name) && list !== 'licenses'
    if (value === null && canLack) delete next[name]
    // null does not change a field that a tag must have. A licence has a name if SPDX does not list it.
    else if (value !== undefined && (value !== null || Value.Check(properties[name as never], null))) next[name] = value
  }
  return next as TagRow
}
