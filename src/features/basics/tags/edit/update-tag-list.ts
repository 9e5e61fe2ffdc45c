import type { Actor } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'
import { type TagListName, type TagLists, tagListsOf } from '#taxonomy/taxonomy-files.ts'
import { checkLists, checkRevision, rowsOf } from './check-lists.ts'
import { deleteList, lockEditedLists, saveList } from './queries.ts'

declare module '#platform/cache/changes.ts' {
  interface ChangeKinds {
    tags: true
  }
}

export type TagEditDeps = Pick<Deps, 'db' | 'cache' | 'now' | 'tags' | 'taxonomyData'>

/** Rows of a list; null for those of the data files. `seen` is the revision that the operator edited. */
export type ListEdit = {
  [List in TagListName]: { list: List; rows: TagLists[List] | null; seen: number | undefined }
}[TagListName]

/**
 * Replaces a list of tags. The change takes effect immediately in this process and within a second in the others. Projects
 * and versions keep tags that the list no longer has.
 * @throws ApiError `validation_error` naming `rows`, `conflict`.
 */
export async function updateTagList(deps: TagEditDeps, actor: Actor, { list, rows, seen }: ListEdit): Promise<void> {
  await transaction(deps, async (tx, changed) => {
    const edited = await lockEditedLists(tx)
    checkRevision(edited, list, seen)
    const { [list]: previous, ...others } = rowsOf(edited)
    checkLists(deps.taxonomyData, rows === null ? others : { ...others, [list]: rows }, 'rows')
    if (rows === null) await deleteList(tx, list)
    else await saveList(tx, list, { rows, changed: new Date(deps.now()) })
    const files = tagListsOf(deps.taxonomyData)[list]
    const [before, now] = [namesOf(previous ?? files), namesOf(rows ?? files)]
    const details = { list, added: listOf(now.difference(before)), removed: listOf(before.difference(now)) }
    await recordAudit(tx, { action: 'tags.changed', actor, details })
    changed.addAll('tags')
  })
  await deps.tags.refresh()
}

/** The audit log names at most this many tags of an edit. */
const NAMED_MAX = 20

const listOf = (names: ReadonlySet<string>): string[] => [...names].slice(0, NAMED_MAX)

/** Returns the name of a tag, which is unique in its list except for categories of several project types. */
export function nameOf(row: { name: string; slug?: string } | { value: string }): string {
  return 'value' in row ? row.value : (row.slug ?? row.name)
}

const namesOf = (rows: TagLists[TagListName]): Set<string> => new Set(rows.map(nameOf))
