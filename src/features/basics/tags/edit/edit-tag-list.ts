import { Value } from 'typebox/value'
import type { Actor } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { validationError } from '#lib/errors.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'
import { TAG_LISTS, type TagListName } from '#taxonomy/tag-lists.ts'
import { tagListsOf } from '#taxonomy/taxonomy-files.ts'
import { checkLists, checkRevision, rowsOf } from './check-lists.ts'
import { deleteList, lockEditedLists, saveList } from './queries.ts'
import { nameOf, type TagRow } from './tag-row.ts'

declare module '#platform/cache/changes.ts' {
  interface ChangeKinds {
    tags: true
  }
}

export type TagEditDeps = Pick<Deps, 'db' | 'cache' | 'now' | 'tags' | 'taxonomyData'>

export type Edited = {
  list: TagListName
  /** The revision that the operator edited; undefined for any. */
  seen: number | undefined
  /** Name of the value in the errors of the list. */
  field: string
}

/** The rows after an edit, null for those of the data files, and the name of the tag that has other fields. */
type Next = { rows: readonly TagRow[] | null; changed?: string }

/**
 * Changes a list under a lock, so that concurrent edits of different tags all take effect. The change takes effect immediately
 * in this process and within a second in the others. Projects and versions keep tags that the list no longer has.
 * @throws ApiError `validation_error` naming `field`, `conflict`.
 */
export async function editTagList(
  deps: TagEditDeps,
  actor: Actor,
  { list, seen, field }: Edited,
  edit: (rows: readonly TagRow[]) => Next,
): Promise<void> {
  await transaction(deps, async (tx, changed) => {
    const edited = await lockEditedLists(tx)
    checkRevision(edited, list, seen)
    const { [list]: previous, ...others } = rowsOf(edited)
    const files = tagListsOf(deps.taxonomyData)[list]
    const next = edit(previous ?? files)
    checkLists(deps.taxonomyData, next.rows === null ? others : { ...others, [list]: next.rows }, field)
    if (next.rows !== null && !Value.Check(TAG_LISTS[list], next.rows))
      throw validationError(field, `the list cannot have ${next.rows.length} tags`)
    const [before, now] = [namesOf(previous ?? files), namesOf(next.rows ?? files)]
    const [added, removed] = [now.difference(before), before.difference(now)]
    if (next.rows === null) await deleteList(tx, list)
    else {
      const kept = new Set(edited[list]?.removed).union(removed).difference(now)
      await saveList(tx, list, {
        rows: next.rows,
        changed: new Date(deps.now()),
        removed: [...kept].slice(-REMOVED_MAX),
      })
    }
    const details = { list, added: listOf(added), removed: listOf(removed) }
    const more = next.changed === undefined ? {} : { changed: [next.changed] }
    await recordAudit(tx, { action: 'tags.changed', actor, details: { ...details, ...more } })
    changed.addAll('tags')
  })
  await deps.tags.refresh()
}

/** The audit log names at most this many tags of an edit. */
const NAMED_MAX = 20
/** Number of removed tags that a list remembers, as many as it can have. */
const REMOVED_MAX = 10_000

const listOf = (names: ReadonlySet<string>): string[] => [...names].slice(0, NAMED_MAX)

const namesOf = (rows: readonly TagRow[]): Set<string> => new Set(rows.map(nameOf))
