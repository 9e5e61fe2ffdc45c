// Draws the files of a version: the field for new files, and the list of stored files.
import { FILE_TYPES } from '#features/catalogue/versions/kinds.ts'
import type { VersionView } from '#features/catalogue/versions/views.ts'
import { fileSize } from '#platform/html/format.ts'
import { attributes, html, type Markup, type Part } from '#platform/html/html.ts'
import type { MessageKey } from '#platform/html/languages.ts'
import { icon, type PageContext } from '#platform/html/page-context.ts'
import { dropZone } from '#platform/html/work/choices.ts'
import { sheetPart } from '#platform/html/work/frame.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import type { FormState } from '#web/kit/work/form-page.ts'

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

export function filesPart(
  { page, deps }: OwnRequest,
  {
    draft,
    state,
    removal = 'button',
    text,
  }: { draft: VersionView | undefined; state: FormState; removal?: 'button' | ((file: File) => string); text?: string },
): Markup {
  const { t } = page.language
  const errors = state.errors.filter(({ field }) => field === 'files')
  const accept = Object.keys(deps.fileRules.extensions)
    .map((extension) => `.${extension}`)
    .join(',')
  const zone = dropZone(page, {
    id: 'add-files',
    name: 'files',
    label: t('upload.choose'),
    text: t('upload.drop'),
    accept,
    isMultiple: true,
  })
  const files = draft?.files ?? []
  const primary = state.text('primary_file', files.find((file) => file.primary)?.hashes.sha512)
  const content = html`${errors.map(({ message, lang }) => html`<p class="error"${attributes({ lang: lang !== page.language.tag && lang })}>${icon(page, 'warning')}<span>${message}</span></p>`)}${zone}
<ul class="file-list" data-files>${files.map((file) => fileRow(page, file, { isPrimary: file.hashes.sha512 === primary, state, removal }))}</ul>`
  return sheetPart({ id: 'files', title: t('upload.files'), text: text ?? t('upload.files.text'), content })
}

function fileRow(
  page: PageContext,
  file: File,
  { isPrimary, state, removal }: { isPrimary: boolean; state: FormState; removal: 'button' | ((file: File) => string) },
): Markup {
  const { t } = page.language
  const { sha512 } = file.hashes
  const radio = attributes({ type: 'radio', name: 'primary_file', value: sha512, checked: isPrimary })
  const chosen = state.text(`type.${sha512}`, file.file_type ?? '')
  const options = ['', ...FILE_TYPES].map((type) => {
    const key = TYPE_LABELS[type as keyof typeof TYPE_LABELS] ?? 'upload.type.none'
    return html`<option${attributes({ value: type, selected: type === chosen })}>${t(key)}</option>`
  })
  const label = t('upload.remove', { name: file.filename })
  const remove: Part =
    removal === 'button'
      ? html`<button class="tight" name="do" value="remove.${sha512}" formnovalidate>${icon(page, 'trash')}<span class="vh">${label}</span></button>`
      : html`<a class="button tight" href="${removal(file)}">${icon(page, 'trash')}<span class="vh">${label}</span></a>`
  return html`<li data-hash="${sha512}">${icon(page, 'package')}<div><p class="name" dir="auto">${file.filename}</p><p class="facts"><span>${fileSize(page.language, file.size)}</span></p>
<div class="what"><label class="choice"><input${radio}><span>${t('upload.primary')}</span></label><span><label for="type-${sha512.slice(0, 12)}">${t('upload.type')}</label><select id="type-${sha512.slice(0, 12)}" name="type.${sha512}">${options}</select></span></div></div><div>${remove}</div></li>
`
}
