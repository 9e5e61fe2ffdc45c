import { Value } from 'typebox/value'
import type { Actor } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { validationError } from '#lib/errors.ts'
import { transaction } from '#platform/cache/transaction.ts'
import { TAG_LISTS } from '#taxonomy/tag-lists.ts'
import { type TaxonomyData, tagListsOf } from '#taxonomy/taxonomy-files.ts'
import { checkLists, rowsOf } from './check-lists.ts'
import type { TagEditDeps } from './edit-tag-list.ts'
import { type EditedLists, lockEditedLists, readEditedLists, saveList } from './queries.ts'
import { replaceTag } from './replace-tag.ts'

/** Lists whose tags can be renamed. Loaders are also named by file rules, and games and fields by loaders. */
export const RENAMED_LISTS = ['categories', 'game_versions', 'link_platforms'] as const
export type RenamedList = (typeof RENAMED_LISTS)[number]

type Renaming = { list: RenamedList; from: string; to: string }

/** Returns the list with the new name. @throws ApiError `validation_error` naming `from` or `to`. */
function renamedRows(taxonomyData: TaxonomyData, edited: EditedLists, { list, from, to }: Renaming): object[] {
  const lists = rowsOf(edited)
  const key = list === 'game_versions' ? 'value' : 'name'
  const rows = { ...tagListsOf(taxonomyData), ...lists }[list] as unknown as Record<string, unknown>[]
  if (!rows.some((row) => row[key] === from)) throw validationError('from', 'is not in the list')
  if (rows.some((row) => row[key] === to)) throw validationError('to', 'is already in the list')
  const renamed = rows.map((row) => (row[key] === from ? { ...row, [key]: to } : row))
  if (!Value.Check(TAG_LISTS[list], renamed)) throw validationError('to', 'is not a valid name for this list')
  checkLists(taxonomyData, { ...lists, [list]: renamed }, 'to')
  return renamed
}

/** Checks that a tag can be renamed. @throws ApiError as `renameTag` does */
export async function checkRenaming({ db, taxonomyData }: TagEditDeps, renaming: Renaming): Promise<void> {
  renamedRows(taxonomyData, await readEditedLists(db), renaming)
}

/**
 * Renames a tag in its list and in everything that uses it.
 * @throws ApiError `validation_error` naming `from` or `to`.
 */
export async function renameTag(deps: TagEditDeps, actor: Actor, { list, from, to }: Renaming): Promise<void> {
  await transaction(deps, async (tx, changed) => {
    const edited = await lockEditedLists(tx)
    const rows = renamedRows(deps.taxonomyData, edited, { list, from, to })
    await saveList(tx, list, { rows, changed: new Date(deps.now()), removed: [...(edited[list]?.removed ?? []), from] })
    const count = await replaceTag(tx, list, { from, to })
    await recordAudit(tx, { action: 'tags.renamed', actor, details: { list, from, to, count } })
    changed.addAll('tags')
    if (count > 0) for (const kind of ['project', 'version'] as const) changed.addAll(kind)
  })
  await deps.tags.refresh()
}
