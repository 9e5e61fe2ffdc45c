// Icons of loaders and categories: SVG of 24 by 24 units, which the API contains as text.
import { invalidInput } from '#lib/errors.ts'
import { cleanSvg } from '#platform/images/svg.ts'
import { uploadedImage } from '#web/kit/forms/read-form.ts'
import { html, type Part, trusted } from '#web/ui/html.ts'
import type { PageContext } from '#web/ui/page-context.ts'
import { type FormErrors, fileField, hiddenField } from '#web/ui/parts/fields.ts'

/** Characters of an icon. */
const ICON_LENGTH_MAX = 8192
/** Name of the file field. The field `icon` contains the present icon. */
export const ICON_FILE = 'icon_file'

/** Returns the uploaded icon without anything but its drawing, otherwise the icon that the form contains. */
export async function readIcon(body: unknown, current: string): Promise<string> {
  const file = (body as Readonly<Record<string, unknown>>)[ICON_FILE]
  if (typeof file !== 'object') return current
  const { bytes, ext } = uploadedImage(body, ICON_FILE, ICON_LENGTH_MAX)
  if (ext !== 'svg') throw invalidInput('must be an SVG file', ICON_FILE)
  const svg = (await cleanSvg(bytes.toString('utf8'), ICON_FILE)).trim()
  if (svg.length > ICON_LENGTH_MAX) throw invalidInput(`must have at most ${ICON_LENGTH_MAX} characters`, ICON_FILE)
  return svg
}

/** Renders the field for a file, with the present icon. The form keeps an icon that is not saved yet. */
export async function iconField(page: PageContext, icon: string, errors: FormErrors): Promise<Part> {
  const { t } = page.language
  const shown = icon === '' ? undefined : await drawn(icon)
  return html`${hiddenField('icon', icon)}${fileField(page, {
    name: ICON_FILE,
    label: t('ops.tags.icon'),
    hint: t('ops.tags.icon.hint'),
    accept: '.svg,image/svg+xml',
    maxBytes: ICON_LENGTH_MAX,
    isOptional: icon !== '',
    isUnmarked: true,
    errors,
  })}${shown !== undefined && html`<p class="tag-icon">${shown} ${t('ops.tags.icon.present')}</p>`}
<div class="line"><button name="do" value="preview" formnovalidate>${t('ops.tags.icon.preview')}</button></div>`
}

/** Returns nothing for an icon that a data file contains and that is not a drawing. */
async function drawn(icon: string): Promise<Part> {
  try {
    return trusted(await cleanSvg(icon, 'icon'))
  } catch {
    return undefined
  }
}
