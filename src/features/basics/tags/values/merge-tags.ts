import type { Actor } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { validationError } from '#lib/errors.ts'
import { transaction } from '#platform/cache/transaction.ts'
import { tagListsOf } from '#taxonomy/taxonomy-files.ts'
import { checkLists, rowsOf } from '../edit/check-lists.ts'
import type { TagEditDeps } from '../edit/edit-tag-list.ts'
import { lockEditedLists, saveList } from '../edit/queries.ts'
import { type ReplacedList, replaceTag } from '../edit/replace-tag.ts'
import { idOf, nameOf, type TagRow } from '../edit/tag-row.ts'

/**
 * Replaces a tag by another one of its list in everything that uses it, and removes it from the list. A category is merged in
 * all project types; where the other category does not exist, it takes the place of the removed one.
 * @throws ApiError `validation_error` naming `from` or `to`.
 */
export async function mergeTags(
  deps: TagEditDeps,
  actor: Actor,
  { list, from, to }: { list: ReplacedList; from: string; to: string },
): Promise<void> {
  if (from === to) throw validationError('to', 'must be another tag')
  await transaction(deps, async (tx, changed) => {
    const edited = await lockEditedLists(tx)
    const lists = rowsOf(edited)
    const rows: readonly TagRow[] = lists[list] ?? tagListsOf(deps.taxonomyData)[list]
    for (const [field, name] of Object.entries({ from, to }))
      if (!rows.some((row) => nameOf(row) === name)) throw validationError(field, 'is not in the list')
    const ids = new Set(rows.map(idOf))
    const merged = rows.flatMap((row) => {
      if (nameOf(row) !== from) return [row]
      const next = 'project_type' in row ? { ...row, name: to } : undefined
      return next === undefined || ids.has(idOf(next)) ? [] : [next]
    })
    checkLists(deps.taxonomyData, { ...lists, [list]: merged }, 'from')
    const removed = [...(edited[list]?.removed ?? []), from]
    await saveList(tx, list, { rows: merged, changed: new Date(deps.now()), removed })
    const count = await replaceTag(tx, list, { from, to })
    await recordAudit(tx, { action: 'tags.merged', actor, details: { list, from, to, count } })
    changed.addAll('tags')
    if (count > 0) for (const kind of ['project', 'version'] as const) changed.addAll(kind)
  })
  await deps.tags.refresh()
}
