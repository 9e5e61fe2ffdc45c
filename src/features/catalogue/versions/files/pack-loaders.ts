// The loaders inside a content pack: its index names them, and a loader field stores them.
import { validationError } from '#lib/errors.ts'
import type { LoaderFieldValues } from '#taxonomy/loader-fields.ts'

/** Loader field of packs. */
export const PACK_LOADERS_FIELD = 'mrpack_loaders'

/**
 * Returns the loader fields of a version, with the loaders that the index of its pack names if the version lists none.
 * @param inside loaders of the index; empty for a pack without a loader and for other files.
 * @param at dotted path of the version in the request; empty for the whole body.
 * @throws ApiError `validation_error` naming the field if the version lists a loader that the index does not name.
 */
export function withPackLoaders(fields: LoaderFieldValues, inside: readonly string[], at = ''): LoaderFieldValues {
  if (inside.length === 0) return fields
  const listed = [fields[PACK_LOADERS_FIELD] ?? []].flat().map(String)
  if (listed.length === 0) return { ...fields, [PACK_LOADERS_FIELD]: [...inside] }
  const other = listed.find((loader) => !inside.includes(loader))
  if (other === undefined) return fields
  throw validationError(
    at === '' ? PACK_LOADERS_FIELD : `${at}.${PACK_LOADERS_FIELD}`,
    `contains ${other}, but the index of the pack names ${inside.join(', ')}`,
  )
}
