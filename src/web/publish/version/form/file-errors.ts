// Errors of files: next to the file that they are about.
import type { VersionView } from '#features/catalogue/versions/views.ts'
import type { ApiError } from '#lib/errors.ts'
import type { FileRules } from '#taxonomy/file-rules.ts'
import type { FormState } from '#web/kit/forms/form-page.ts'
import { tagNames } from '#web/site/names.ts'
import { attributes, html, type Part } from '#web/ui/html.ts'
import { icon, type PageContext } from '#web/ui/page-context.ts'
import type { FormError } from '#web/ui/parts/fields.ts'
import { withoutRawNames } from '#web/ui/refusals.ts'
import type { RefusedFile } from './receive-form.ts'

/** ID of the row of a stored file, and of a refused file. */
export const fileId = (sha512: string): string => `file-${sha512.slice(0, 12)}`
const refusedId = (index: number): string => `refused-${index}`

/** Renders the errors of a field whose control does not show them. */
export function errorsOfPart(page: PageContext, { errors }: Pick<FormState, 'errors'>, field: string): Part {
  return errors.filter((error) => error.field === field).map((error) => errorLine(page, error))
}

export function errorLine(page: PageContext, { message, lang, more }: Omit<FormError, 'field'>): Part {
  const foreign = attributes({ lang: lang !== page.language.tag && lang })
  return html`<p class="error">${icon(page, 'warning')}<span><span${foreign}>${message}</span>${more !== undefined && html` ${more}`}</span></p>`
}

/** Returns the errors of refused files for the summary. */
export const errorsOfRefused = (refused: readonly RefusedFile[]): FormError[] =>
  refused.map(({ filename, message, lang }, index) => ({
    field: refusedId(index),
    message: `${filename}: ${message}`,
    ...(lang === undefined ? {} : { lang }),
  }))

/** Renders the rows of refused files: they are not stored, so that there is nothing to remove. */
export function refusedRows(page: PageContext, refused: readonly RefusedFile[]): Part {
  return refused.map(
    ({ filename, ...error }, index) =>
      html`<li id="${refusedId(index)}" tabindex="-1" class="bad">${icon(page, 'alert')}<div><p class="name" dir="auto">${filename}</p><p class="facts"><span>${page.language.t('upload.not-stored')}</span></p>${errorLine(page, error)}</div></li>
`,
  )
}

/** Returns the error of a stored file that the rules of the loaders refuse (`files.2`), with the loaders that accept it. */
export function errorOfStored(
  { language }: PageContext,
  error: ApiError,
  { version, fileRules, loaders }: { version: VersionView; fileRules: FileRules; loaders: readonly string[] },
): FormError | undefined {
  const index = /^files\.(\d+)$/.exec(String(error.details?.['field']))?.[1]
  const file = index === undefined ? undefined : version.files[Number(index)]
  if (file === undefined) return undefined
  const extension = file.filename.split('.').at(-1)?.toLowerCase() ?? ''
  const accepting = new Set(
    fileRules.rules.filter(({ extensions }) => extensions.includes(extension)).flatMap((rule) => rule.loaders),
  )
  const isOther = accepting.size > 0 && !loaders.some((loader) => accepting.has(loader))
  const names = new Intl.ListFormat(language.tag).format(tagNames(language, [...accepting]).sort())
  return {
    field: fileId(file.hashes.sha512),
    message: `${file.filename}: ${withoutRawNames(error.message)}`,
    lang: 'en',
    ...(isOther ? { more: language.t('upload.error.loaders', { extension: `.${extension}`, loaders: names }) } : {}),
  }
}
