// Draws when the version is published: now, or at a time in a time zone.

import type { FormState } from '#web/kit/forms/form-page.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import { html, type Markup } from '#web/ui/html.ts'
import { optionCards } from '#web/ui/parts/choices.ts'
import { textField } from '#web/ui/parts/fields.ts'
import { sheetPart } from '#web/ui/parts/frame.ts'
import { lastZone } from '../../zone.ts'
import { instantOf, offsetText } from '../form/schedule.ts'
import type { UploadData } from '../form/upload-data.ts'
import { featuredBox } from '../status-part.ts'

type Drawn = { state: FormState; isFeatured: boolean }

export function publishPart(request: OwnRequest, { view }: UploadData, { state, isFeatured }: Drawn): Markup {
  const { page, deps, t } = request
  const when = state.text('when', 'now')
  const zone = state.text('zone', lastZone(request))
  const followers = { count: view.followers }
  const now =
    deps.config.scanner.kind === 'none' ? t('upload.when.now.text', followers) : t('upload.when.now.scan', followers)
  const cards = optionCards({
    legend: html`<span class="vh">${t('upload.when')}</span>`,
    name: 'when',
    options: [
      { value: 'now', label: t('upload.when.now'), text: now, isChosen: when !== 'at' },
      { value: 'at', label: t('upload.when.at'), text: t('upload.when.at.text'), isChosen: when === 'at' },
    ],
  })
  const errors = state.errors.map((error) => (error.field === 'scheduled_at' ? { ...error, field: 'day' } : error))
  const shared = { errors, isOptional: true, isUnmarked: true }
  const offset = offsetText(zone, chosenTime(state, zone) ?? page.now) ?? '?'
  const fields = html`<div class="pair">${textField(page, { ...shared, name: 'day', type: 'date', label: t('upload.day'), hint: t('upload.day.hint'), value: state.text('day') })}
${textField(page, { ...shared, name: 'time', type: 'time', label: t('upload.time'), hint: t('upload.time.hint'), value: state.text('time', '18:00') })}
${textField(page, { ...shared, name: 'zone', label: t('upload.zone'), hint: html`${t('upload.zone.hint')} <span data-offset>${t('upload.zone.offset', { offset })}</span>`, value: zone, maxLength: 64, isName: true })}</div>`
  return sheetPart({
    id: 'publish',
    title: t('upload.publish'),
    content: html`${cards}${fields}${featuredBox(page, isFeatured)}`,
  })
}

/** Returns the time in the form; undefined if it is not complete. */
export function chosenTime(state: FormState, zone: string): number | undefined {
  if (state.text('day') === '') return undefined
  try {
    return instantOf({ day: state.text('day'), time: state.text('time'), zone }).getTime()
  } catch {
    return undefined
  }
}
