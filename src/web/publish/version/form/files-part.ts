// Draws the files of a version: the field for new files, and the list of stored and refused files.
import type { Finding, ScanRow } from '#features/catalogue/scans/queries.ts'
import { FILE_TYPES } from '#features/catalogue/versions/kinds.ts'
import { FILE_BYTES_MAX } from '#features/catalogue/versions/publish/prepare-files.ts'
import { FILE_PARTS_MAX } from '#features/catalogue/versions/publish/requests.ts'
import { metadataOf } from '#features/catalogue/versions/uploads/headers.ts'
import type { UploadRow } from '#features/catalogue/versions/uploads/queries.ts'
import type { VersionView } from '#features/catalogue/versions/views.ts'
import type { FormState } from '#web/kit/forms/form-page.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import { PATHS } from '#web/kit/paths.ts'
import { fileSize } from '#web/ui/format.ts'
import { attributes, html, type Markup, type Part } from '#web/ui/html.ts'
import type { MessageKey } from '#web/ui/languages.ts'
import { icon, type PageContext, pathTo } from '#web/ui/page-context.ts'
import { dropZone, uploadProgress } from '#web/ui/parts/choices.ts'
import { sheetPart } from '#web/ui/parts/frame.ts'
import { statusOf } from '#web/ui/parts/status.ts'
import { errorLine, errorsOfPart, fileId, refusedRows } from './file-errors.ts'
import { type RefusedFile, wholeMebibytes } from './receive-form.ts'

const TYPE_LABELS: Readonly<Record<(typeof FILE_TYPES)[number], MessageKey>> = {
  'required-resource-pack': 'upload.type.required-resource-pack',
  'optional-resource-pack': 'upload.type.optional-resource-pack',
  'sources-jar': 'upload.type.sources-jar',
  'dev-jar': 'upload.type.dev-jar',
  'javadoc-jar': 'upload.type.javadoc-jar',
  signature: 'upload.type.signature',
  unknown: 'upload.type.unknown',
}

type File = VersionView['files'][number]

type Drawn = {
  version: VersionView | undefined
  state: FormState
  refused: readonly RefusedFile[]
  /** Files of which parts are missing. */
  waiting?: readonly UploadRow[]
  /** The scan of the files, if there is a scanner. */
  scan: ScanRow | undefined
  /** Returns the URL of the page that deletes a file. Null: nobody can. Default: a button of the form removes it. */
  removal?: ((file: File) => string) | null
  /** Whether the rows show hashes and a link to download. */
  isDetailed?: boolean
  text?: string
}

export function filesPart({ page, deps, t }: OwnRequest, of: Drawn): Markup {
  const { version, state, refused, scan, text, waiting = [] } = of
  const accept = Object.keys(deps.fileRules.extensions)
    .map((extension) => `.${extension}`)
    .join(',')
  const zone = dropZone(page, {
    id: 'add-files',
    name: 'files',
    label: t('upload.choose'),
    text: t('upload.drop', { limit: wholeMebibytes(FILE_BYTES_MAX), count: FILE_PARTS_MAX }),
    accept,
    isMultiple: true,
  })
  const files = version?.files ?? []
  const primary = state.text('primary_file', files.find((file) => file.primary)?.hashes.sha512)
  const rows = files.map((file) => {
    const finding = scan?.findings.find(({ file_id }) => file_id === file.id)
    const verdict = scan?.state === 'pending' ? { verdict: 'pending', reason: null } : finding
    return fileRow(page, file, { ...of, isPrimary: file.hashes.sha512 === primary, verdict })
  })
  const content = html`${errorsOfPart(page, state, 'files')}${zone}
<ul class="file-list" data-files>${rows}${waitingRows(page, waiting)}${refusedRows(page, refused)}</ul>`
  return sheetPart({ id: 'files', title: t('upload.files'), text: text ?? t('upload.files.text'), content })
}

type Verdict = Pick<Finding, 'reason'> & { verdict: string }

function fileRow(
  page: PageContext,
  file: File,
  {
    isPrimary,
    state,
    removal,
    verdict,
    isDetailed = false,
  }: Drawn & { isPrimary: boolean; verdict: Verdict | undefined },
): Markup {
  const { t } = page.language
  const { sha512 } = file.hashes
  const id = fileId(sha512)
  const radio = attributes({ type: 'radio', name: 'primary_file', value: sha512, checked: isPrimary })
  const chosen = state.text(`type.${sha512}`, file.file_type ?? '')
  const options = ['', ...FILE_TYPES].map((type) => {
    const key = TYPE_LABELS[type as keyof typeof TYPE_LABELS] ?? 'upload.type.none'
    return html`<option${attributes({ value: type, selected: type === chosen })}>${t(key)}</option>`
  })
  const label = t('upload.remove', { name: file.filename })
  const remove: Part =
    removal === undefined
      ? html`<button class="tight" name="do" value="remove.${sha512}" formnovalidate data-now>${icon(page, 'trash')}<span class="vh">${label}</span></button>`
      : removal !== null &&
        html`<a class="button tight" href="${removal(file)}">${icon(page, 'trash')}<span class="vh">${label}</span></a>`
  const scanned =
    verdict !== undefined &&
    html`<span>${statusOf(page, 'scan', verdict.verdict)}${verdict.reason !== null && html` <q dir="auto">${verdict.reason}</q>`}</span>`
  const own = state.errors.filter(({ field }) => field === id).map((error) => errorLine(page, error))
  return html`<li id="${id}" tabindex="-1" data-hash="${sha512}">${icon(page, own.length > 0 ? 'alert' : 'package')}<div><p class="name" dir="auto">${file.filename}</p><p class="facts"><span>${fileSize(page.language, file.size)}</span>${scanned}</p>${own}
<div class="what"><label class="choice"><input${radio}><span>${t('upload.primary')}</span></label><span><label for="type-${id}">${t('upload.type')}</label><select id="type-${id}" name="type.${sha512}">${options}</select></span></div>${isDetailed && fileDetails(page, file)}</div><div>${remove}</div></li>
`
}

function fileDetails({ language: { t } }: PageContext, { url, hashes, filename }: File): Markup {
  return html`<details class="more"><summary>${t('upload.hashes')}<span class="vh">: ${filename}</span></summary><dl class="pairs wide"><dt>SHA-1</dt><dd><code class="long">${hashes.sha1}</code></dd><dt>SHA-512</dt><dd><code class="long">${hashes.sha512}</code></dd></dl><p><a href="${url}" download>${t('upload.download')}<span class="vh">: ${filename}</span></a></p></details>`
}

function waitingRows(page: PageContext, uploads: readonly UploadRow[]): Markup[] {
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
