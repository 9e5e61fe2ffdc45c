// Files that the draft names and that have not arrived completely, or that no page has added yet.
import { metadataOf } from '#features/catalogue/versions/uploads/headers.ts'
import type { UploadRow } from '#features/catalogue/versions/uploads/queries.ts'
import { PATHS } from '#web/kit/paths.ts'
import { fileSize } from '#web/ui/format.ts'
import { attributes, html, type Markup } from '#web/ui/html.ts'
import { icon, type PageContext, pathTo } from '#web/ui/page-context.ts'
import { uploadProgress } from '#web/ui/parts/choices.ts'

export function waitingRows(page: PageContext, uploads: readonly UploadRow[]): Markup[] {
  const { language } = page
  const { t } = language
  return uploads.map(({ id, metadata, length, received }) => {
    const values = metadataOf(metadata)
    const filename = values.get('filename') ?? id
    const isComplete = received === length
    const size = length ?? 0
    // The script continues when a file with the same name, size and time is chosen.
    const row = attributes({
      id: `upload-${id}`,
      'data-waiting': pathTo(page, `${PATHS.uploadedFiles}/${id}`),
      'data-key': `${size}/${values.get('modified') ?? ''}/${filename}`,
    })
    const facts = t('upload.waiting.received', {
      received: fileSize(language, received),
      total: fileSize(language, size),
    })
    const remove = t('upload.remove', { name: filename })
    return html`<li${row} tabindex="-1">${icon(page, 'package')}<div><p class="name" dir="auto">${filename}</p>${uploadProgress({ label: filename, value: received, max: size })}<p class="facts"><span>${facts}</span><span>${isComplete ? t('upload.waiting.complete') : t('upload.waiting.choose')}</span></p></div><div class="line">${isComplete && html`<button class="tight" name="do" value="add.${id}" formnovalidate data-now>${t('upload.waiting.add')}<span class="vh">: ${filename}</span></button>`}<button class="tight" name="do" value="forget.${id}" formnovalidate data-now>${icon(page, 'trash')}<span class="vh">${remove}</span></button></div></li>
`
  })
}
