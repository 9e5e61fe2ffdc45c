// Decides what a draft lacks before it can be published, and how long Depot keeps it.

import { ApiError, validationError } from '#lib/errors.ts'
import { DAY_MS } from '#lib/time.ts'
import { type LoaderFieldValues, missingFields } from '#taxonomy/loader-fields.ts'
import type { Taxonomy } from '#taxonomy/taxonomy.ts'

/** Time after the last change of an incomplete draft after which Depot deletes it. */
const KEPT_MS = 7 * DAY_MS

/** Maximum number of incomplete drafts of a project, because Depot stores their files. */
export const INCOMPLETE_DRAFTS_MAX = 100

export type DraftContent = {
  name: string
  version_number: string
  loaders: readonly string[]
  fields: LoaderFieldValues
  /** Number of files. */
  files: number
}

/** Returns the fields that the version lacks, by their names in `PATCH /v3/version/{id}`. */
export function missingOf(
  taxonomy: Taxonomy,
  { name, version_number, loaders, fields, files }: DraftContent,
): string[] {
  const missing = [
    ...(files === 0 ? ['files'] : []),
    ...(version_number === '' ? ['version_number'] : []),
    ...(name === '' ? ['name'] : []),
    ...(loaders.length === 0 ? ['loaders'] : []),
  ]
  return [...missing, ...missingFields(taxonomy, loaders, fields)]
}

/** Returns when Depot deletes the draft, or null for a complete one. */
export function draftExpiry(taxonomy: Taxonomy, content: DraftContent, now: number): Date | null {
  return missingOf(taxonomy, content).length === 0 ? null : new Date(now + KEPT_MS)
}

/** @throws ApiError `validation_error` with the first missing field, and all of them in `details.missing`. */
export function requireComplete(taxonomy: Taxonomy, content: DraftContent): void {
  const missing = missingOf(taxonomy, content)
  const [field] = missing
  if (field === undefined) return
  const { message, details } = validationError(
    field,
    `is required to publish the version. Missing fields: ${missing.join(', ')}`,
  )
  throw new ApiError('validation_error', message, { details: { ...details, missing } })
}
