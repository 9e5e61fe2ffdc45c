// The buttons of the dependencies. They change the rows of the form; saving the form stores them.
import type { VersionView } from '#features/catalogue/versions/views.ts'
import { ApiError, validationError } from '#lib/errors.ts'
import { isIdForm } from '#lib/ids.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import { type DependencySearch, searchDependencies } from './dependency-data.ts'
import { findProjectOf } from './upload-data.ts'
import { type DependencyRow, rowsOf } from './version-values.ts'

type Edited = {
  /** Changed in place. */
  rows: DependencyRow[]
  projectId: string
  /** The version whose dependencies can be copied. */
  previous?: VersionView | undefined
}

const ACTIONS = ['find', 'search', 'choose', 'external', 'drop', 'copy']
export const isDependencyAction = (action: string): boolean => ACTIONS.includes(action)

/** Names of the fields in which a dependency is searched: for a row, and for another dependency. */
export const searchField = (row: number | 'new'): string => (row === 'new' ? 'dep_find' : `dep_query.${row}`)

/**
 * Runs the button `action.row.project`, and returns the search whose results the page shows.
 * @throws ApiError `validation_error` naming the field of the search.
 */
export async function changeDependencies(
  request: OwnRequest,
  { rows, projectId, previous }: Edited,
  [action = '', at = '', id = '']: readonly string[],
): Promise<DependencySearch | undefined> {
  const place = at === '' || at === 'new' ? 'new' : Number(at)
  const row = place === 'new' ? undefined : rows[place]
  if (place !== 'new' && row === undefined) throw new ApiError('invalid_input', 'The form has no such dependency')
  switch (action) {
    case 'drop':
      if (row !== undefined) rows.splice(rows.indexOf(row), 1)
      return undefined
    case 'external':
      if (row !== undefined) Object.assign(row, { file: row.declared, project: '', version: '' })
      return undefined
    case 'copy':
      addMissingRows(rows, previous)
      return undefined
    case 'choose':
      if (!isIdForm(id)) throw new ApiError('invalid_input', 'The form names no project')
      choose(rows, { place, row, project: id })
      return undefined
    default:
      return find(request, { rows, projectId, place, row })
  }
}

type Place = { place: number | 'new'; row: DependencyRow | undefined }

/** Chooses the project that the text names exactly, otherwise searches. */
async function find(
  request: OwnRequest,
  { rows, projectId, place, row }: Place & { rows: DependencyRow[]; projectId: string },
): Promise<DependencySearch | undefined> {
  const field = searchField(place)
  const text = request.field(field) || (row?.declared ?? '')
  const found = await findProjectOf(request, text)
  if (found !== undefined && found !== projectId) {
    choose(rows, { place, row, project: found })
    return undefined
  }
  const hits = await searchDependencies(request, text, projectId)
  if (hits.length === 0) throw validationError(field, 'No project that you can see has this name, URL or ID')
  return { row: place, text, hits }
}

function choose(rows: DependencyRow[], { place, row, project }: Place & { project: string }): void {
  if (rows.some((other) => other !== row && other.project === project && other.version === ''))
    throw validationError(searchField(place), 'This project is already in the list')
  if (row !== undefined) Object.assign(row, { project, file: '', version: '' })
  else rows.push({ declared: '', project, file: '', version: '', type: 'required' })
}

/** Adds the dependencies of the previous version that the form does not have. */
function addMissingRows(rows: DependencyRow[], previous: VersionView | undefined): void {
  for (const row of rowsOf(previous)) {
    const isKnown = rows.some(
      ({ project, file, declared }) =>
        (row.project !== '' && project === row.project) ||
        (row.file !== '' && file === row.file) ||
        (row.declared !== '' && declared === row.declared && (project !== '' || file !== '')),
    )
    if (isKnown) continue
    const open = rows.find(
      ({ declared, project, file }) => declared !== '' && declared === row.declared && project === '' && file === '',
    )
    if (open === undefined) rows.push(row)
    else Object.assign(open, row, { type: open.type })
  }
}
