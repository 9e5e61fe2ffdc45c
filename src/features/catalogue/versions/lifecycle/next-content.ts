// Applies a patch to the columns and loader fields of a version. A new draft can lack fields that other versions need.

import type { Updateable } from 'kysely'
import { validationError } from '#lib/errors.ts'
import { type PatchColumns, toColumns } from '#lib/schema/patch.ts'
import { Refusals } from '#lib/schema/refusals.ts'
import { isBlank } from '#lib/text/text-rules.ts'
import type { Version } from '#platform/db/schema.ts'
import { checkDraftFields, checkLoaderFields, type LoaderFieldValues, withDefaults } from '#taxonomy/loader-fields.ts'
import { checkLoaders, fieldsOf, type Taxonomy } from '#taxonomy/taxonomy.ts'
import type { VersionRow } from '../queries.ts'
import { type VersionKeys, type VersionPatch, versionPatchKeys } from './requests.ts'

/** Fields of a patch that depend on each other and are written together. */
type StatusField = 'status' | 'requested_status' | 'scheduled_at'
/** Fields that are columns of the version. Dependencies and files are separate rows. */
type ColumnFields = Omit<VersionKeys, StatusField | 'withdrawn' | 'dependencies' | 'file_types' | 'primary_file'>
type Columns = Pick<Partial<VersionRow>, keyof ColumnFields>

export type NextContent = {
  /** The columns that the patch sets. */
  columns: Columns
  /** All loader fields after the patch. */
  fields: LoaderFieldValues
  /** The column of the loader fields, if the patch changes them. */
  fieldChanges: Updateable<Version>
}

/** Removes fields that the new loaders do not support. @throws ApiError `validation_error` naming the field. */
export function nextContent(version: VersionRow, patch: VersionPatch, taxonomy: Taxonomy): NextContent {
  const refusals = new Refusals()
  const columns: Columns = toColumns<ColumnFields, Columns>(patch, columnsOf(taxonomy, version), refusals)
  const current = version.fields as LoaderFieldValues
  const sent = Object.entries(patch).filter(([key, value]) => !Object.hasOwn(versionPatchKeys, key) && value !== null)
  // The defaults of a draft are added when it is published.
  const publishes = version.is_new_draft && patch.status !== undefined && patch.status !== 'draft'
  if (sent.length === 0 && columns.loaders === undefined && !publishes) {
    refusals.throwAny()
    return { columns, fields: current, fieldChanges: {} }
  }
  const loaders = columns.loaders ?? version.loaders
  const supported = loaders.length === 0 ? undefined : new Set(fieldsOf(taxonomy, loaders))
  const kept = Object.entries(current).filter(([key]) => supported?.has(key) ?? true)
  const values = Object.fromEntries([...kept, ...sent])
  const isComplete = !version.is_new_draft && (patch.loaders === undefined || columns.loaders !== undefined)
  const fields = refusals.check(() =>
    isComplete ? checkLoaderFields(taxonomy, loaders, values) : checkDraftFields(taxonomy, loaders, values),
  )
  refusals.throwAny()
  const complete = publishes ? withDefaults(taxonomy, loaders, fields ?? {}) : (fields ?? {})
  return { columns, fields: complete, fieldChanges: { fields: JSON.stringify(complete) } }
}

/** Returns the columns that each field of the patch sets. Only a new draft can lack a name, a number and loaders. */
function columnsOf(taxonomy: Taxonomy, { is_new_draft }: VersionRow): PatchColumns<ColumnFields, Columns> {
  return {
    name: (name) => {
      if (name !== null && isBlank(name)) throw validationError('name', 'must not be blank')
      return name === null && !is_new_draft ? {} : { name: (name ?? '').trim() }
    },
    version_number: (number) => (number === null && !is_new_draft ? {} : { version_number: number ?? '' }),
    changelog: (changelog) => ({ changelog }),
    version_type: (version_type) => ({ version_type }),
    loaders: (loaders) => {
      if (loaders.length === 0 && !is_new_draft) throw validationError('loaders', 'must have at least 1 item')
      return { loaders: checkLoaders(taxonomy, loaders) }
    },
    featured: (featured) => ({ featured }),
    ordering: (ordering) => ({ ordering }),
    // A counter is written alone, so that it raises no revision.
    downloads: () => ({}),
  }
}
