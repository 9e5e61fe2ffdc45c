import { getSettings, type SettingsReader } from '#features/basics/settings/settings-cache.ts'
import { validationError } from '#lib/errors.ts'

/** The Terms that a sign-up agrees to: the newest version, and the oldest one whose consent is still sufficient. */
export type CurrentTerms = { version: number; asked: number | null }

/** Returns the current Terms; undefined if the instance has none. */
export async function findCurrentTerms(reader: SettingsReader): Promise<CurrentTerms | undefined> {
  const terms = (await getSettings(reader)).pages.find(({ kind }) => kind === 'terms')
  return terms && { version: terms.version, asked: terms.asked_version }
}

/**
 * Checks the version of the Terms that a user agrees to, and returns it. Returns undefined if there are no Terms, or if
 * the site is off and the request names no version: then nothing shows the Terms.
 * @throws ApiError `validation_error` naming `field`, with the number of the newest version
 */
export async function checkTermsVersion(
  reader: SettingsReader,
  agreed: number | undefined,
  field = 'terms_version',
): Promise<number | undefined> {
  const terms = await findCurrentTerms(reader)
  if (terms === undefined) return undefined
  const { version, asked } = terms
  if (agreed === undefined) {
    if (!reader.config.site.isServed) return undefined
    throw validationError(field, `is required: ${version} agrees to the newest version of the Terms`)
  }
  if (agreed >= (asked ?? 1) && agreed <= version) return agreed
  throw validationError(field, `must be ${version}, the newest version, because the Terms have changed`)
}
