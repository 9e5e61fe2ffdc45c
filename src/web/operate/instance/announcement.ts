// The announcement at the top of every page, with its times and a preview.
import { SettingsPatch } from '#features/basics/settings/requests.ts'
import { announcementAt } from '#features/basics/settings/settings-cache.ts'
import { confirmFirst } from '#web/kit/forms/confirm.ts'
import { fields } from '#web/kit/forms/fields.ts'
import { type FormState, formPage, type Outcome } from '#web/kit/forms/form-page.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS } from '#web/kit/paths.ts'
import { html, type Part } from '#web/ui/html.ts'
import { type PageContext, pathTo } from '#web/ui/page-context.ts'
import { saveForm } from '#web/ui/parts/actions.ts'
import { form } from '#web/ui/parts/fields.ts'
import { sheetPart } from '#web/ui/parts/frame.ts'
import { note } from '#web/ui/parts/lists.ts'
import { showOperator } from '../sections.ts'
import { type InstanceSettings, loadSettings, saveSettings } from './settings-values.ts'

const TIME = { hint: 'ops.announcement.time.hint', placeholder: '2026-01-31 18:30', isOptional: true } as const
const FIELDS = fields(SettingsPatch, {
  announcement: { label: 'ops.announcement.label', hint: 'ops.announcement.hint', rows: 3, isOptional: true },
  announcement_start: { ...TIME, label: 'ops.announcement.start', said: 'The start' },
  announcement_end: { ...TIME, label: 'ops.announcement.end', said: 'The end' },
})

export function announcementPages(pages: Pages): void {
  formPage<InstanceSettings>(pages, {
    path: PATHS.announcement,
    name: 'operateAnnouncement',
    options: { role: 'admin' },
    load: loadSettings,
    show: showAnnouncement,
    commands: { save: saveAnnouncement, remove: confirmFirst(askRemoval, removeAnnouncement) },
    labels: FIELDS.said,
  })
}

async function saveAnnouncement(request: OwnRequest, data: InstanceSettings, state: FormState): Promise<Outcome> {
  await saveSettings(request, data, {
    announcement: state.text('announcement').trim(),
    announcement_start: timeOf(state.text('announcement_start')),
    announcement_end: timeOf(state.text('announcement_end')),
  })
  return { done: 'saved' }
}

function askRemoval({ page }: OwnRequest, { settings }: InstanceSettings) {
  const { t } = page.language
  const consequences = [html`<q dir="auto">${settings.announcement}</q>`, t('operate.recorded')]
  return { title: t('ops.announcement.remove.title'), consequences, button: t('ops.announcement.remove') }
}

async function removeAnnouncement(request: OwnRequest, data: InstanceSettings): Promise<Outcome> {
  await saveSettings(request, data, { announcement: null, announcement_start: null, announcement_end: null })
  return { done: 'announcement-removed' }
}

/** Returns the time that a field for date and time contains, in UTC. Other text stays as it is and is refused. */
function timeOf(text: string): string {
  const typed = text.trim().replace(' ', 'T')
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d$/.test(typed) ? `${typed}:00.000Z` : typed
}

const shownTime = (time: string | null): string => time?.slice(0, 16).replace('T', ' ') ?? ''

function showAnnouncement(request: OwnRequest, data: InstanceSettings, state: FormState) {
  const { page, t } = request
  const { announcement } = data.settings
  return showOperator(request, {
    section: PATHS.announcement,
    heading: t('ops.announcement'),
    text: t('ops.announcement.text'),
    form: state,
    body: [statePart(page, data), announcementForm(page, data, state), announcement !== null && removePart(page)],
  })
}

function statePart(page: PageContext, { settings }: InstanceSettings): Part {
  const { t } = page.language
  const { announcement } = settings
  if (announcement === null) return null
  const text = announcementAt(settings, page.now) === null ? t('ops.announcement.waits') : t('ops.announcement.shown')
  return sheetPart({
    id: 'preview',
    title: t('ops.announcement.preview'),
    text,
    content: note(page, 'good', announcement),
  })
}

function announcementForm(page: PageContext, { settings }: InstanceSettings, state: FormState): Part {
  const { announcement, announcement_start, announcement_end } = settings
  const shown = { announcement_start: shownTime(announcement_start), announcement_end: shownTime(announcement_end) }
  const content = FIELDS.controls(page, state, { announcement, ...shown })
  return saveForm(page, { id: 'edit', path: PATHS.announcement, content })
}

function removePart(page: PageContext): Part {
  const content = form(page, {
    action: pathTo(page, PATHS.announcement),
    content: html`<button class="danger" name="do" value="remove">${page.language.t('ops.announcement.remove')}</button>`,
  })
  return sheetPart({ id: 'remove', content })
}
