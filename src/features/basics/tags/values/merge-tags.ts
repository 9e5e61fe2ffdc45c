import type { Actor } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { validationError } from '#lib/errors.ts'
import { transaction } from '#platform/cache/transaction.ts'
import { type TaxonomyData, tagListsOf } from '#taxonomy/taxonomy-files.ts'
import { checkLists, rowsOf } from '../edit/check-lists.ts'
import type { TagEditDeps } from '../edit/edit-tag-list.ts'
import { type EditedLists, lockEditedLists, readEditedLists, saveList } from '../edit/queries.ts'
import { type ReplacedList, replaceTag } from '../edit/replace-tag.ts'
import { idOf, nameOf, type TagRow } from '../edit/tag-row.ts'

type Merge = { list: ReplacedList; from: string; to: string }

/** Returns the list without the merged tag. @throws ApiError `validation_error` naming `from` or `to`. */
function mergedRows(taxonomyData: TaxonomyData, edited: EditedLists, { list, from, to }: Merge): TagRow[] {
  if (from === to) throw validationError('to', 'must be another tag')
  const lists = rowsOf(edited)
  const rows: readonly TagRow[] = lists[list] ?? tagListsOf(taxonomyData)[list]
  for (const [field, name] of Object.entries({ from, to }))
    if (!rows.some((row) => nameOf(row) === name)) throw validationError(field, 'is not in the list')
  const ids = new Set(rows.map(idOf))
  const merged = rows.flatMap((row) => {
    if (nameOf(row) !== from) return [row]
    const next = 'project_type' in row ? { ...row, name: to } : undefined
    return next === undefined || ids.has(idOf(next)) ? [] : [next]
  })
  checkLists(taxonomyData, { ...lists, [list]: merged }, 'from')
  return merged
}

/** Checks that a tag can be merged. @throws ApiError as `mergeTags` does */
export async function checkMerge({ db, taxonomyData }: TagEditDeps, merge: Merge): Promise<void> {
  mergedRows(taxonomyData, await readEditedLists(db), merge)
}

/**
 * Replaces a tag by another one of its list in everything that uses it, and removes it from the list. A category is merged in
 * all project types; where the other category does not exist, it takes the place of the removed one.
 * @throws ApiError `validation_error` naming `from` or `to`.
 */
export async function mergeTags(deps: TagEditDeps, actor: Actor, { list, from, to }: Merge): Promise<void> {
  await transaction(deps, async (tx, changed) => {
    const edited = await lockEditedLists(tx)
    const rows = mergedRows(deps.taxonomyData, edited, { list, from, to })
    const removed = [...(edited[list]?.removed ?? []), from]
    await saveList(tx, list, { rows, changed: new Date(deps.now()), removed })
    const count = await replaceTag(tx, list, { from, to })
    await recordAudit(tx, { action: 'tags.merged', actor, details: { list, from, to, count } })
    changed.addAll('tags')
    if (count > 0) for (const kind of ['project', 'version'] as const) changed.addAll(kind)
  })
  await deps.tags.refresh()
}
