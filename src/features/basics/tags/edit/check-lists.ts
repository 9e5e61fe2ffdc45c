import { ApiError, validationError } from '#lib/errors.ts'
import type { TagListName, TagLists } from '#taxonomy/tag-lists.ts'
import { type TaxonomyData, withTagLists } from '#taxonomy/taxonomy-files.ts'
import type { EditedLists } from './queries.ts'

/** Returns the rows of the edited lists. */
export function rowsOf(edited: EditedLists): Partial<TagLists> {
  return Object.fromEntries(Object.entries(edited).map(([name, { rows }]) => [name, rows]))
}

/**
 * Checks that the lists do not contradict each other or the data files.
 * @throws ApiError `validation_error` naming `field`, with the first contradiction.
 */
export function checkLists(data: TaxonomyData, lists: Partial<TagLists>, field: string): void {
  try {
    withTagLists(data, lists)
  } catch (error) {
    // The list is not a file here: `categories.json: …`.
    throw validationError(field, (error as Error).message.replace(/^([a-z-]+)\.json/, '$1'))
  }
}

/** @throws ApiError `conflict` if another operator has changed the list since `seen`. */
export function checkRevision(edited: EditedLists, list: TagListName, seen: number | undefined): void {
  const current = edited[list]?.revision ?? 0
  if (seen === undefined || seen === current) return
  throw new ApiError('conflict', 'Another operator has changed this list. Nothing was saved.', {
    details: { field: 'revision', message: 'is out of date', current },
  })
}
