// Draws the status of a published version.
import type { VersionView } from '#features/catalogue/versions/views.ts'
import type { FormState } from '#web/kit/forms/form-page.ts'
import { exactTime } from '#web/ui/format.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import type { PageContext } from '#web/ui/page-context.ts'
import { optionCards } from '#web/ui/parts/choices.ts'
import { checkbox } from '#web/ui/parts/fields.ts'
import { sheetPart } from '#web/ui/parts/frame.ts'
import { statusOf } from '#web/ui/parts/status.ts'
import { errorsOfPart } from './form/file-errors.ts'

export function statusPart(
  page: PageContext,
  version: VersionView,
  { state, isFeatured }: { state: FormState; isFeatured: boolean },
): Markup {
  const { t } = page.language
  const chosen = state.text('status', version.status)
  const texts = {
    listed: t('upload.status.listed'),
    unlisted: t('upload.status.unlisted'),
    archived: t('upload.status.archived'),
    draft: t('upload.status.draft'),
  }
  const options = (['listed', 'unlisted', 'archived', 'draft'] as const).map((value) => ({
    value,
    label: t(`work.version.${value}`),
    text: texts[value],
    isChosen: chosen === value,
  }))
  const cards = optionCards({
    legend: html`<span class="vh">${t('upload.edit.status')}</span>`,
    name: 'status',
    error: errorsOfPart(page, state, 'status'),
    options,
  })
  const content = html`${waiting(page, version)}${cards}${featuredBox(page, isFeatured)}`
  return sheetPart({ id: 'state', title: t('upload.edit.status'), content })
}

/** Renders the choice whether the version is featured. */
export function featuredBox({ language: { t } }: PageContext, isFeatured: boolean): Markup {
  const text = { label: t('upload.featured'), hint: t('upload.featured.text') }
  return checkbox({ name: 'featured', value: 'yes', isChecked: isFeatured, ...text })
}

/** A status that nobody chooses: the version waits for its scan or its time. Choosing another status ends that. */
function waiting(page: PageContext, { status, scheduled_at: at }: VersionView): Part {
  if (status === 'unknown') return html`<p>${statusOf(page, 'version', status)}</p>`
  if (status !== 'scheduled' || at === null) return false
  return html`<p>${statusOf(page, 'version', status)} ${exactTime(page.language, new Date(at))}</p>`
}
