// Rows of the lists of tags, as the page shows them and as operators type them.
import { nameOf } from '#features/basics/tags/edit/tag-row.ts'
import type { EditableTags } from '#features/basics/tags/edit/views.ts'
import { validationError } from '#lib/errors.ts'
import type { TagListName } from '#taxonomy/tag-lists.ts'
import type { PageContext } from '#web/ui/page-context.ts'

type Listed = EditableTags[TagListName]['rows'][number]
type Data = { list: TagListName; tags: EditableTags[TagListName] }

/** Identifies a row: a category can have the same name in several project types. */
const keyOf = (row: Listed): string => ('project_type' in row ? `${row.name} ${row.project_type}` : nameOf(row))

/** Returns the position of the row with this key, or -1. */
export function placeOf({ tags }: Data, key: string): number {
  return (tags.rows as Listed[]).findIndex((row) => keyOf(row) === key)
}

/** Returns the rows as the API accepts them. */
export function sendable(rows: readonly object[]): object[] {
  return (rows as Listed[]).map(({ hidden, uses: _, ...row }) => (hidden ? { ...row, hidden } : row))
}

export function shownRows({ tags }: Data) {
  return (tags.rows as Listed[]).map((row) => ({ key: keyOf(row), name: nameOf(row), details: detailsOf(row), row }))
}

function detailsOf(row: Listed): string {
  if ('project_type' in row) return `${row.project_type}, ${row.header}`
  if ('project_types' in row) return row.project_types.join(', ')
  if ('value' in row) return [row.metadata?.type, row.created.slice(0, 10)].filter(Boolean).join(', ')
  return 'name' in row ? (row.name ?? '') : ''
}

/** Whether the order of the list is the order of its rows. The other lists are ordered by their data. */
export const isMoved = (list: TagListName): boolean => list === 'games'

/** Returns a row as text. A new row begins as a copy of the last one, without its name. */
export function rowText(row: object | undefined): string {
  return row === undefined ? '{}' : JSON.stringify(row, null, 2)
}

/** @throws ApiError naming `row` */
export function readRow(text: string): object {
  try {
    const row: unknown = JSON.parse(text)
    if (typeof row === 'object' && row !== null && !Array.isArray(row)) return row
  } catch {
    // The message below says what is expected.
  }
  throw validationError('row', 'must be a JSON object, such as {"name": "…"}')
}

export function listName(page: PageContext, list: TagListName): string {
  const { t } = page.language
  if (list === 'games') return t('ops.tags.games')
  if (list === 'loaders') return t('ops.tags.loaders')
  return list === 'categories' ? t('ops.tags.categories') : t('ops.tags.game-versions')
}
