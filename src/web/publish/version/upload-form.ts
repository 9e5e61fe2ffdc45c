// The fields of a version in a form: their current values, and the patch that a submitted form contains.
import { DEPENDENCY_TYPES, FILE_TYPES, VERSION_TYPES } from '#features/catalogue/versions/kinds.ts'
import type { VersionPatch } from '#features/catalogue/versions/lifecycle/requests.ts'
import type { VersionView } from '#features/catalogue/versions/views.ts'
import { fieldsOf, type Taxonomy } from '#platform/taxonomy/taxonomy.ts'
import type { FormState } from '#web/kit/work/form-page.ts'
import { fieldTexts } from '#web/site/lists/rows.ts'
import type { ProposalsOf } from './upload-data.ts'

/** A row of the dependencies. */
export type DependencyRow = {
  declared: string
  /** ID of a project, or what a person typed to find one. */
  project: string
  /** Name of an external file. */
  file: string
  type: string
  /** ID of a specific version, which the form keeps. */
  version: string
  isResolved: boolean
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
    dependencies: dependencyRows(draft, proposals),
  }
}

/** Returns the value of a loader field with one value. */
function textOf(version: VersionView | undefined, name: string): string | undefined {
  const value = (version as Record<string, unknown> | undefined)?.[name]
  return typeof value === 'string' ? value : undefined
}

function dependencyRows(draft: VersionView | undefined, proposals: ProposalsOf | undefined): DependencyRow[] {
  const own = (draft?.dependencies ?? []).map((dependency) => ({
    declared: dependency.declared_id ?? '',
    project: dependency.project_id ?? '',
    file: dependency.file_name ?? '',
    version: dependency.version_id ?? '',
    type: dependency.dependency_type,
    isResolved: true,
  }))
  if (own.length > 0) return own
  return (proposals?.dependencies ?? []).map((dependency) => ({
    declared: dependency.declared_id ?? '',
    project: dependency.project_id ?? '',
    file: dependency.file_name ?? '',
    version: '',
    type: dependency.dependency_type,
    isResolved: dependency.resolved,
  }))
}

/** Returns the rows of a submitted form. Each row has one value of each field. */
export function submittedRows(form: FormState): DependencyRow[] {
  const [declared, projects, files, types, versions, resolved] = [
    'dep_declared',
    'dep_project',
    'dep_file',
    'dep_type',
    'dep_version',
    'dep_resolved',
  ].map((name) => form.list(name))
  return (types ?? []).map((type, index) => ({
    declared: declared?.[index] ?? '',
    project: projects?.[index]?.trim() ?? '',
    file: files?.[index]?.trim() ?? '',
    version: versions?.[index] ?? '',
    type,
    isResolved: resolved?.[index] === '1',
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
    dependencies: rows.map(toDependency),
    ...(isOtherPrimary ? { primary_file: primary } : {}),
    ...(fileTypes.length > 0 ? { file_types: fileTypes } : {}),
  }
}

function toDependency({ declared, project, file, version, type }: DependencyRow) {
  return {
    dependency_type: DEPENDENCY_TYPES.find((name) => name === type) ?? 'required',
    ...(project === '' ? {} : { project_id: project }),
    ...(version === '' ? {} : { version_id: version }),
    ...(file === '' ? {} : { file_name: file }),
    ...(declared === '' ? {} : { declared_id: declared }),
  }
}
