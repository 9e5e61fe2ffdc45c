import type { Actor } from '#features/basics/audit/actor.ts'
import type { TagListName, TagLists } from '#taxonomy/tag-lists.ts'
import { editTagList, type TagEditDeps } from './edit-tag-list.ts'

/** Rows of a list; null for those of the data files. `seen` is the revision that the operator edited. */
export type ListEdit = {
  [List in TagListName]: { list: List; rows: TagLists[List] | null; seen: number | undefined }
}[TagListName]

/**
 * Replaces a list of tags.
 * @throws ApiError `validation_error` naming `rows`, `conflict`.
 */
export async function updateTagList(deps: TagEditDeps, actor: Actor, { list, rows, seen }: ListEdit): Promise<void> {
  await editTagList(deps, actor, { list, seen, field: 'rows' }, () => ({ rows }))
}
