// Rows of the lists of tags, and how they are named.
import type { TagListName, TagLists } from '#taxonomy/tag-lists.ts'

export type TagRow = TagLists[TagListName][number]

/** Returns the name of a tag, which is unique in its list except for categories of several project types. */
export function nameOf(row: TagRow): string {
  if ('value' in row) return row.value
  if ('slug' in row) return row.slug
  return 'id' in row ? row.id : (row as { name: string }).name
}

/** Returns the identifier of a tag in its list: its name, for a category after the project type (`mod:magic`). */
export const idOf = (row: TagRow): string => ('project_type' in row ? `${row.project_type}:${row.name}` : nameOf(row))

/** Lists whose order is that of their rows. Categories are ordered in their project type and header. */
export const isOrdered = (list: TagListName): boolean => list !== 'loaders' && list !== 'game_versions'

/**
 * Returns the rows with a row at another position: in the list, or for a category among those of its project type and
 * header, whose `ordering` becomes their position.
 */
export function moved(rows: readonly TagRow[], row: TagRow, position: number): TagRow[] {
  const isCategory = 'project_type' in row
  const group = isCategory ? categoriesLike(rows, row) : rows.filter((other) => other !== row)
  const place = Math.min(position, group.length)
  const ordered = group.toSpliced(place, 0, row)
  if (!isCategory) return ordered
  const positions = new Map(ordered.map((each, index) => [each, index]))
  return rows.map((each) => {
    const ordering = positions.get(each)
    return ordering === undefined ? each : ({ ...each, ordering } as TagRow)
  })
}

/** Returns the other categories of the same project type and header, in the order in which the API lists them. */
function categoriesLike(rows: readonly TagRow[], row: TagLists['categories'][number]): TagRow[] {
  return (rows as TagLists['categories'])
    .filter((other) => other !== row && other.project_type === row.project_type && other.header === row.header)
    .toSorted((a, b) => a.ordering - b.ordering || (a.name < b.name ? -1 : 1))
}
