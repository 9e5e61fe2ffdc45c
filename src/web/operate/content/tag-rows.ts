// The lists of tags as the pages for operators show them.
import { nameOf, type TagRow } from '#features/basics/tags/edit/tag-row.ts'
import type { EditableTags } from '#features/basics/tags/edit/views.ts'
import { notFound } from '#lib/errors.ts'
import type { TagListName } from '#taxonomy/tag-lists.ts'
import { PATHS } from '#web/kit/paths.ts'
import { tagName, termName } from '#web/site/names.ts'
import { messageOr } from '#web/ui/languages.ts'
import type { PageContext } from '#web/ui/page-context.ts'

export const LISTS = [
  'game_versions',
  'loaders',
  'categories',
  'loader_fields',
  'licenses',
  'link_platforms',
  'games',
] as const satisfies readonly TagListName[]

export type Listed = EditableTags[TagListName]['rows'][number]

/** @throws ApiError 404 if the path names no list */
export function listOf(param: (name: string) => string): TagListName {
  const list = LISTS.find((name) => name === param('list'))
  if (list === undefined) throw notFound('page')
  return list
}

export const listPath = (list: TagListName): string => `${PATHS.operatorTags}/${list}`
export const tagPath = (list: TagListName, id: string): string => `${listPath(list)}/tag/${encodeURIComponent(id)}`

/** Returns the rows as the API accepts them. */
export function sendable(rows: readonly Listed[]): object[] {
  return rows.map(({ hidden, uses: _, ...row }) => (hidden ? { ...row, hidden } : row))
}

export function listName({ language }: PageContext, list: TagListName): string {
  const names = {
    game_versions: 'ops.tags.game-versions',
    loaders: 'ops.tags.loaders',
    categories: 'ops.tags.categories',
    loader_fields: 'ops.tags.loader-fields',
    licenses: 'ops.tags.licences',
    link_platforms: 'ops.tags.link-platforms',
    games: 'ops.tags.games',
  } as const
  return language.t(names[list])
}

export function detailsOf(page: PageContext, row: Listed): string {
  const { language } = page
  if ('value' in row) {
    const { type } = row.metadata ?? {}
    const day = row.created.slice(0, 10)
    return type === undefined ? day : `${messageOr(language, `ops.tags.type.${type}`, type)}, ${day}`
  }
  if ('project_type' in row) return tagName(language, row.name)
  if ('project_types' in row) return row.project_types.map(termName).join(', ')
  if ('donation' in row) return row.donation ? language.t('ops.tags.donation') : ''
  if ('optional' in row) return `${row.type}${row.optional ? '' : `, ${language.t('ops.tags.required')}`}`
  return 'slug' in row ? row.name : (row.name ?? '')
}

/** Returns the rows in the order in which they are listed: game versions by date, loaders by name, others as they are. */
export function inOrder(list: TagListName, rows: readonly Listed[]): readonly Listed[] {
  if (list === 'loaders') return rows.toSorted((a, b) => (nameOf(a as TagRow) < nameOf(b as TagRow) ? -1 : 1))
  if (list !== 'game_versions') return rows
  const created = (row: Listed): string => ('value' in row ? row.created : '')
  return rows.toSorted((a, b) => (created(a) < created(b) ? 1 : created(a) > created(b) ? -1 : 0))
}

export type Group = { title: string | undefined; rows: readonly Listed[] }

/** Returns the parts of a list that are ordered separately: categories by project type and header. */
export function groupsOf(list: TagListName, rows: readonly Listed[]): Group[] {
  if (list !== 'categories') return [{ title: undefined, rows }]
  const groups = Map.groupBy(rows, (row) =>
    'project_type' in row ? `${termName(row.project_type)}: ${termName(row.header)}` : '',
  )
  const ordering = (row: Listed): number => ('project_type' in row ? row.ordering : 0)
  return Array.from(groups, ([title, group]) => ({
    title,
    rows: group.toSorted((a, b) => ordering(a) - ordering(b) || (nameOf(a as TagRow) < nameOf(b as TagRow) ? -1 : 1)),
  }))
}
