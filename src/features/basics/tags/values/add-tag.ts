import type { Actor } from '#features/basics/audit/actor.ts'
import { validationError } from '#lib/errors.ts'
import type { TagListName } from '#taxonomy/tag-lists.ts'
import { editTagList, type TagEditDeps } from '../edit/edit-tag-list.ts'
import { idOf, nameOf, type TagRow } from '../edit/tag-row.ts'

/** Adds a tag to its list: a game version at the start, all others at the end. @throws ApiError `validation_error` */
export async function addTag(
  deps: TagEditDeps,
  actor: Actor,
  { list, row }: { list: TagListName; row: TagRow },
): Promise<void> {
  const field = list === 'game_versions' ? 'value' : list === 'games' ? 'slug' : list === 'licenses' ? 'id' : 'name'
  await editTagList(deps, actor, { list, seen: undefined, field }, (rows) => {
    if (rows.some((other) => idOf(other) === idOf(row)))
      throw validationError(field, `must be new: the list already contains ${nameOf(row)}`)
    return { rows: list === 'game_versions' ? [row, ...rows] : [...rows, row] }
  })
}
