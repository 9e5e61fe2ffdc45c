// The fields of a version in a form: their current values, and the patch that a submitted form contains.
import { DEPENDENCY_TYPES, FILE_TYPES, VERSION_TYPES } from '#features/catalogue/versions/kinds.ts'
import type { VersionPatch } from '#features/catalogue/versions/lifecycle/requests.ts'
import type { VersionView } from '#features/catalogue/versions/views.ts'
import { fieldsOf, type Taxonomy } from '#taxonomy/taxonomy.ts'
import type { FormState } from '#web/kit/forms/form-page.ts'
import { fieldTexts } from '#web/site/lists/rows.ts'
import type { ProposalsOf } from './upload-data.ts'

/** A row of the dependencies. */
export type DependencyRow = {
  declared: string
  /** ID of the project; empty for an external file, and until the project is found. */
  project: string
  /** Name of an external file. */
  file: string
  type: string
  /** ID of a specific version; empty for any compatible version. */
  version: string
}

export type VersionValues = {
  version_number: string
  name: string
  version_type: string
  loaders: readonly string[]
  game_versions: readonly string[]
  mrpack_loaders: readonly string[]
  environment: string
  changelog: string
  featured: boolean
  dependencies: readonly DependencyRow[]
}

/** Returns the values of the draft. Proposals fill in missing values. */
export function valuesOf(draft: VersionView | undefined, proposals: ProposalsOf | undefined): VersionValues {
  const orProposed = (value: string | undefined, proposed: string | null | undefined) =>
    value === undefined || value === '' ? (proposed ?? '') : value
  const listOr = (name: 'loaders' | 'game_versions' | 'mrpack_loaders') => {
    const own = draft === undefined ? [] : fieldTexts(draft, name)
    return own.length > 0 ? own : (proposals?.[name].value ?? [])
  }
  const isFresh = draft === undefined || draft.version_number === ''
  return {
    version_number: orProposed(draft?.version_number, proposals?.version_number.value),
    name: orProposed(draft?.name, proposals?.name.value),
    version_type: (isFresh ? proposals?.version_type.value : undefined) ?? draft?.version_type ?? 'release',
    loaders: listOr('loaders'),
    game_versions: listOr('game_versions'),
    mrpack_loaders: listOr('mrpack_loaders'),
    environment: orProposed(textOf(draft, 'environment'), proposals?.environment.value),
    changelog: draft?.changelog ?? '',
    featured: draft?.featured ?? false,
    dependencies: dependencyRows(draft, proposals),
  }
}

/** Returns the values that the form shows: those that were submitted, otherwise `values`. */
export function shownValues(form: FormState, values: VersionValues): VersionValues {
  const { text, list } = form
  return {
    version_number: text('version_number', values.version_number).trim(),
    name: text('name', values.name).trim(),
    version_type: text('version_type', values.version_type),
    loaders: list('loaders', values.loaders),
    game_versions: list('game_versions', values.game_versions),
    mrpack_loaders: list('mrpack_loaders', values.mrpack_loaders),
    environment: text('environment', values.environment),
    changelog: text('changelog', values.changelog),
    featured: form.isSubmitted ? list('featured').length > 0 : values.featured,
    dependencies: values.dependencies,
  }
}

/** Returns the value of a loader field with one value. */
function textOf(version: VersionView | undefined, name: string): string | undefined {
  const value = (version as Record<string, unknown> | undefined)?.[name]
  return typeof value === 'string' ? value : undefined
}

function dependencyRows(draft: VersionView | undefined, proposals: ProposalsOf | undefined): DependencyRow[] {
  const own = rowsOf(draft)
  if (own.length > 0) return own
  return (proposals?.dependencies ?? []).map((dependency) => ({
    declared: dependency.declared_id ?? '',
    project: dependency.project_id ?? '',
    file: dependency.file_name ?? '',
    version: '',
    type: dependency.dependency_type,
  }))
}

/** Returns the dependencies of a version as rows. */
export function rowsOf(version: VersionView | undefined): DependencyRow[] {
  return (version?.dependencies ?? []).map((dependency) => ({
    declared: dependency.declared_id ?? '',
    project: dependency.project_id ?? '',
    file: dependency.file_name ?? '',
    version: dependency.version_id ?? '',
    type: dependency.dependency_type,
  }))
}

/** Whether a dependency has neither a project nor a file yet. */
export const isOpen = ({ project, file }: DependencyRow): boolean => project === '' && file === ''

/** Returns the rows of a submitted form. Each row has one value of each field. */
export function submittedRows(form: FormState): DependencyRow[] {
  const names = ['dep_declared', 'dep_project', 'dep_file', 'dep_version', 'dep_type'] as const
  const [declared, projects, files, versions, types] = names.map((name) => form.list(name))
  return (types ?? []).map((type, index) => ({
    declared: declared?.[index] ?? '',
    project: projects?.[index] ?? '',
    file: files?.[index] ?? '',
    version: versions?.[index] ?? '',
    type,
  }))
}

/** Returns the patch of a submitted form. Empty fields are null, which only a draft accepts. */
export function patchOf(
  form: FormState,
  { rows, version, taxonomy }: { rows: readonly DependencyRow[]; version: VersionView | undefined; taxonomy: Taxonomy },
): VersionPatch {
  const loaders = [...form.list('loaders')]
  const supported = new Set(fieldsOf(taxonomy, loaders))
  const lists = ['game_versions', 'mrpack_loaders'].filter((name) => loaders.length === 0 || supported.has(name))
  const environment = form.text('environment')
  const primary = form.text('primary_file')
  const type = VERSION_TYPES.find((name) => name === form.text('version_type'))
  const files = version?.files ?? []
  const fileTypes = files.flatMap(({ hashes, file_type }) => {
    const [chosen] = form.list(`type.${hashes.sha512}`)
    const next = FILE_TYPES.find((type) => type === chosen) ?? null
    return chosen === undefined || next === file_type
      ? []
      : [{ algorithm: 'sha512', hash: hashes.sha512, file_type: next }]
  })
  const isOtherPrimary = files.some(({ hashes, primary: isPrimary }) => hashes.sha512 === primary && !isPrimary)
  return {
    version_number: form.text('version_number').trim() || null,
    name: form.text('name').trim() || null,
    ...(type === undefined ? {} : { version_type: type }),
    loaders,
    ...Object.fromEntries(lists.map((name) => [name, [...form.list(name)]])),
    ...(supported.has('environment') && environment !== '' ? { environment } : {}),
    changelog: form.text('changelog'),
    featured: form.list('featured').length > 0,
    dependencies: rows.filter((row) => !isOpen(row)).map(toDependency),
    ...(isOtherPrimary ? { primary_file: primary } : {}),
    ...(fileTypes.length > 0 ? { file_types: fileTypes } : {}),
  }
}

/** Returns a row as the API takes it. */
export function toDependency({ declared, project, file, version, type }: DependencyRow) {
  return {
    dependency_type: DEPENDENCY_TYPES.find((name) => name === type) ?? 'required',
    ...(project === '' ? {} : { project_id: project }),
    ...(version === '' ? {} : { version_id: version }),
    ...(file === '' ? {} : { file_name: file }),
    ...(declared === '' ? {} : { declared_id: declared }),
  }
}
