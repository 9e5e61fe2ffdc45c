// Draws the changelog of a version with its preview.
import type { ProjectView } from '#features/catalogue/projects/views.ts'
import { CHANGELOG_LENGTH_MAX } from '#features/catalogue/versions/publish/requests.ts'
import type { FormState } from '#web/kit/forms/form-page.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import { wholeNumber } from '#web/ui/format.ts'
import { attributes, html, type Markup } from '#web/ui/html.ts'
import { sheetPart } from '#web/ui/parts/frame.ts'
import { nowhereNote } from '../../project/image-notes.ts'
import { errorsOfPart } from './file-errors.ts'

type Changelog = {
  state: FormState
  /** The project of the version. */
  view: ProjectView
  /** The saved text. */
  changelog: string
  /** IDs of the elements that the script updates while the user types. */
  swaps?: string
}

export async function changelogPart(
  { page, texts }: OwnRequest,
  { state, view, changelog, swaps = 'preview' }: Changelog,
): Promise<Markup> {
  const { t } = page.language
  const text = state.text('changelog', changelog)
  const area = attributes({
    id: 'changelog',
    name: 'changelog',
    maxlength: CHANGELOG_LENGTH_MAX,
    rows: 9,
    'aria-label': t('upload.changelog'),
    'aria-invalid': state.errors.some(({ field }) => field === 'changelog') && 'true',
    'data-preview': swaps,
    'data-count': t('upload.changelog.count', {
      count: '{count}',
      max: wholeNumber(page.language, CHANGELOG_LENGTH_MAX),
    }),
    dir: 'auto',
  })
  const rendered = await texts.preview(text, page, { text: changelog, source: view })
  const label = t('upload.changelog.preview')
  const content = html`${errorsOfPart(page, state, 'changelog')}${nowhereNote(page, rendered)}<div class="write both"><p class="marks"><span>Markdown</span><button class="tight" name="do" value="preview" formnovalidate data-now>${label}</button></p><textarea${area}>
${text}</textarea><div class="prose" id="preview" aria-label="${label}" role="region" tabindex="0">${rendered}</div></div>`
  return sheetPart({ id: 'log', title: t('upload.changelog.title'), text: t('upload.changelog.hint'), content })
}
