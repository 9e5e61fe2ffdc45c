import type { Actor } from '#features/basics/audit/actor.ts'
import { notFound } from '#lib/errors.ts'
import type { TagListName } from '#taxonomy/tag-lists.ts'
import { editTagList, type TagEditDeps } from '../edit/edit-tag-list.ts'
import { idOf } from '../edit/tag-row.ts'

/**
 * Removes a tag from its list. Projects and versions keep it.
 * @throws ApiError `not_found`, `conflict`, `validation_error` naming `id` if another list needs it.
 */
export async function removeTag(
  deps: TagEditDeps,
  actor: Actor,
  { list, id, seen }: { list: TagListName; id: string; seen?: number | undefined },
): Promise<void> {
  await editTagList(deps, actor, { list, seen, field: 'id' }, (rows) => {
    const left = rows.filter((row) => idOf(row) !== id)
    if (left.length === rows.length) throw notFound('tag')
    return { rows: left }
  })
}
