// The announcement at the top of every page, with its severity, link and times, and a preview.
import { SEVERITIES, SettingsPatch, type Severity } from '#features/basics/settings/requests.ts'
import { announcementAt } from '#features/basics/settings/settings-cache.ts'
import { confirmFirst } from '#web/kit/forms/confirm.ts'
import { fields } from '#web/kit/forms/fields.ts'
import { type FormState, formPage, type Outcome } from '#web/kit/forms/form-page.ts'
import { dateOf } from '#web/kit/forms/typed.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS } from '#web/kit/paths.ts'
import { html, type Part } from '#web/ui/html.ts'
import { announcementContent } from '#web/ui/layout.ts'
import { type PageContext, pathTo } from '#web/ui/page-context.ts'
import { saveForm } from '#web/ui/parts/actions.ts'
import { optionCards } from '#web/ui/parts/choices.ts'
import { form } from '#web/ui/parts/fields.ts'
import { sheetPart } from '#web/ui/parts/frame.ts'
import { showOperator } from '../sections.ts'
import { type InstanceSettings, loadSettings, saveSettings } from './settings-values.ts'

const TIME = { hint: 'ops.announcement.time.hint', placeholder: '2026-01-31 18:30', isOptional: true } as const
const FIELDS = fields(SettingsPatch, {
  announcement: { label: 'ops.announcement.label', hint: 'ops.announcement.hint', rows: 4, isOptional: true },
  announcement_link: {
    label: 'ops.announcement.link',
    hint: 'ops.announcement.link.hint',
    said: 'The link',
    isOptional: true,
    isName: true,
  },
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
    commands: {
      save: saveAnnouncement,
      preview: showAnnouncement,
      remove: confirmFirst(askRemoval, removeAnnouncement),
    },
    labels: { ...FIELDS.said, announcement_severity: 'The severity' },
  })
}

async function saveAnnouncement(request: OwnRequest, data: InstanceSettings, state: FormState): Promise<Outcome> {
  await saveSettings(request, data, {
    announcement: state.text('announcement').trim(),
    announcement_severity: state.text('announcement_severity', data.settings.announcement_severity),
    announcement_link: state.text('announcement_link').trim(),
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
  await saveSettings(request, data, {
    announcement: null,
    announcement_severity: 'info',
    announcement_link: null,
    announcement_start: null,
    announcement_end: null,
  })
  return { done: 'announcement-removed' }
}

/** Returns the time that a field for date and time contains, in UTC. A date alone means midnight. Other text stays, and is refused. */
function timeOf(text: string): string {
  const typed = dateOf(text).replace(' ', 'T')
  if (/^\d{4}-\d\d-\d\d$/.test(typed)) return `${typed}T00:00:00.000Z`
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d$/.test(typed) ? `${typed}:00.000Z` : typed
}

const shownTime = (time: string | null): string => time?.slice(0, 16).replace('T', ' ') ?? ''

async function showAnnouncement(request: OwnRequest, data: InstanceSettings, state: FormState) {
  const { page, t } = request
  const { announcement } = data.settings
  return showOperator(request, {
    section: PATHS.announcement,
    heading: t('ops.announcement'),
    text: t('ops.announcement.text'),
    form: state,
    body: [
      await previewPart(request, data, state),
      announcementForm(page, data, state),
      announcement !== null && removePart(page),
    ],
  })
}

const severityOf = ({ settings }: InstanceSettings, state: FormState): Severity => {
  const chosen = state.text('announcement_severity', settings.announcement_severity)
  return SEVERITIES.find((severity) => severity === chosen) ?? 'info'
}

/** Renders what is typed, otherwise the stored announcement. */
async function previewPart({ page, texts, t }: OwnRequest, data: InstanceSettings, state: FormState): Promise<Part> {
  const { settings } = data
  const typed = state.text('announcement', settings.announcement ?? '').trim()
  const severity = severityOf(data, state)
  const link = state.text('announcement_link', settings.announcement_link ?? '').trim() || null
  const shown = { text: await texts.preview(typed, page), severity, link, key: '' }
  const stored =
    settings.announcement !== null &&
    (announcementAt(settings, page.now) === null ? t('ops.announcement.waits') : t('ops.announcement.shown'))
  return sheetPart({
    id: 'shown',
    title: t('ops.announcement.preview'),
    text: stored === false ? t('ops.announcement.none') : stored,
    content: html`<div id="preview">${typed !== '' && html`<div class="announcement ${severity}"><div class="page">${announcementContent(page, shown)}</div></div>`}</div>`,
  })
}

function announcementForm(page: PageContext, data: InstanceSettings, state: FormState): Part {
  const { t } = page.language
  const { announcement, announcement_link, announcement_start, announcement_end } = data.settings
  const shown = { announcement_start: shownTime(announcement_start), announcement_end: shownTime(announcement_end) }
  const current = severityOf(data, state)
  const severities = optionCards({
    legend: t('ops.announcement.severity'),
    name: 'announcement_severity',
    options: SEVERITIES.map((value) => ({
      value,
      label: t(`ops.announcement.severity.${value}`),
      text: t(`ops.announcement.severity.${value}.text`),
      isChosen: value === current,
    })),
  })
  const preview = html`<p><button class="tight" name="do" value="preview">${t('work.editor.preview')}</button></p>`
  const controls = FIELDS.controls(
    page,
    state,
    { announcement, announcement_link, ...shown },
    { announcement: { preview: 'preview', after: html`${preview}${severities}` } },
  )
  return saveForm(page, { id: 'edit', path: PATHS.announcement, content: controls })
}

function removePart(page: PageContext): Part {
  const content = form(page, {
    action: pathTo(page, PATHS.announcement),
    content: html`<button class="danger" name="do" value="remove">${page.language.t('ops.announcement.remove')}</button>`,
  })
  return sheetPart({ id: 'remove', content })
}
