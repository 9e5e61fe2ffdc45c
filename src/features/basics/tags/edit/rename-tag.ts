import { Value } from 'typebox/value'
import type { Actor } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { validationError } from '#lib/errors.ts'
import { transaction } from '#platform/cache/transaction.ts'
import { TAG_LISTS, tagListsOf } from '#taxonomy/taxonomy-files.ts'
import { checkLists, rowsOf } from './check-lists.ts'
import { lockEditedLists, renameCategory, renameGameVersion, saveList } from './queries.ts'
import type { TagEditDeps } from './update-tag-list.ts'

/** Lists whose tags can be renamed. Loaders are also named by file rules, and the slug of a game by loaders. */
export const RENAMED_LISTS = ['categories', 'game_versions'] as const
export type RenamedList = (typeof RENAMED_LISTS)[number]

/**
 * Renames a tag in its list and in everything that uses it.
 * @throws ApiError `validation_error` naming `from` or `to`.
 */
export async function renameTag(
  deps: TagEditDeps,
  actor: Actor,
  { list, from, to }: { list: RenamedList; from: string; to: string },
): Promise<void> {
  await transaction(deps, async (tx, changed) => {
    const lists = rowsOf(await lockEditedLists(tx))
    const current = { ...tagListsOf(deps.taxonomyData), ...lists }
    const key = list === 'categories' ? 'name' : 'value'
    const rows = current[list] as unknown as Record<string, unknown>[]
    if (!rows.some((row) => row[key] === from)) throw validationError('from', 'is not in the list')
    if (rows.some((row) => row[key] === to)) throw validationError('to', 'is already in the list')
    const renamed = rows.map((row) => (row[key] === from ? { ...row, [key]: to } : row))
    if (!Value.Check(TAG_LISTS[list], renamed)) throw validationError('to', 'is not a valid name for this list')
    checkLists(deps.taxonomyData, { ...lists, [list]: renamed }, 'to')
    await saveList(tx, list, { rows: renamed, changed: new Date(deps.now()) })
    const count = await (list === 'categories' ? renameCategory : renameGameVersion)(tx, { from, to })
    await recordAudit(tx, { action: 'tags.renamed', actor, details: { list, from, to, count } })
    changed.addAll('tags')
    if (count > 0) for (const kind of ['project', 'version'] as const) changed.addAll(kind)
  })
  await deps.tags.refresh()
}
