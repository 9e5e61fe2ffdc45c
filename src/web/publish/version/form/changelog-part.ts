// Draws the changelog of a version with its preview.
import { IMAGE_BYTES_MAX } from '#features/basics/content-images/upload-image.ts'
import { CHANGELOG_LENGTH_MAX } from '#features/catalogue/versions/publish/requests.ts'
import type { FormState } from '#web/kit/forms/form-page.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import { wholeNumber } from '#web/ui/format.ts'
import { html, type Markup } from '#web/ui/html.ts'
import { pathTo } from '#web/ui/page-context.ts'
import { markdownEditor } from '#web/ui/parts/editor.ts'
import { sheetPart } from '#web/ui/parts/frame.ts'
import { nowhereNote } from '../../project/image-notes.ts'
import type { ManagedProject } from '../../project/managed-project.ts'
import { errorsOfPart } from './file-errors.ts'

type Changelog = {
  state: FormState
  data: Pick<ManagedProject, 'view' | 'settings'>
  /** The saved text. */
  changelog: string
  /** The version that contains the images. Default: the draft in the URL of the form */
  version?: string
  /** IDs of the elements that the script updates while the user types. */
  swaps?: string
}

export async function changelogPart(
  { page, texts }: OwnRequest,
  { state, data, changelog, version, swaps }: Changelog,
): Promise<Markup> {
  const { t } = page.language
  const text = state.text('changelog', changelog)
  const rendered = await texts.preview(text, page, { text: changelog, source: data.view })
  const editor = markdownEditor(page, {
    name: 'changelog',
    label: t('upload.changelog'),
    value: text,
    rendered,
    rows: 9,
    maxLength: CHANGELOG_LENGTH_MAX,
    count: t('upload.changelog.count', { count: '{count}', max: wholeNumber(page.language, CHANGELOG_LENGTH_MAX) }),
    isInvalid: state.errors.some(({ field }) => field === 'changelog'),
    images: {
      action: pathTo(page, `${data.settings}/description`),
      field: 'description',
      maxBytes: IMAGE_BYTES_MAX,
      ...(version === undefined ? { needsDraft: true } : { version }),
    },
    ...(swaps === undefined ? {} : { swaps }),
  })
  const content = html`${errorsOfPart(page, state, 'changelog')}${nowhereNote(page, rendered)}${editor}`
  return sheetPart({ id: 'log', title: t('upload.changelog.title'), text: t('upload.changelog.hint'), content })
}
