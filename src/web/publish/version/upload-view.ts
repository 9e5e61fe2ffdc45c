// Draws the page that uploads a version.
import type { FastifyReply } from 'fastify'

import { form, textArea, textField } from '#platform/html/forms.ts'
import { html, type Markup } from '#platform/html/html.ts'
import { note } from '#platform/html/lists.ts'
import { assetHref, pathTo } from '#platform/html/page-context.ts'
import { viewOnly } from '#platform/html/work/actions.ts'
import { optionCards } from '#platform/html/work/choices.ts'
import { sheetHead, sheetPart } from '#platform/html/work/frame.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import { withQuery } from '#web/kit/paths.ts'
import { EMPTY, type FormState } from '#web/kit/work/form-page.ts'
import { showWork } from '#web/kit/work/work-page.ts'
import { may } from '../project/managed-project.ts'
import { projectSubject } from '../project/settings-frame.ts'
import { lastZone } from '../zone.ts'
import { dependencyPart } from './dependency-part.ts'
import { detailsPart } from './details-part.ts'
import { filesPart } from './files-part.ts'
import { offsetText } from './schedule.ts'
import { namesOfProjects, type UploadData } from './upload-data.ts'
import { type DependencyRow, type VersionValues, valuesOf } from './upload-form.ts'

/** The submitted form, or undefined for a page that was only opened. */
export type Shown = { state: FormState | undefined; rows: DependencyRow[] | undefined }

export async function showUpload(request: OwnRequest, data: UploadData, { state, rows }: Shown): Promise<FastifyReply> {
  const { page } = request
  const { t } = page.language
  const values = valuesOf(data.draft, data.proposals)
  const shown = { ...values, dependencies: rows ?? values.dependencies }
  const mayUpload = may(data, 'UPLOAD_VERSION')
  const title = t('upload.title', { name: data.view.name })
  const body = await uploadForm(request, data, { state: state ?? EMPTY, values: shown })
  const subject = projectSubject(request, data)
  const gone = data.isDraftGone && note(page, 'warn', html`<p>${t('upload.draft-gone')}</p>`)
  return showWork(request, {
    title,
    subject: { ...subject, name: t('upload.heading', { name: data.view.name }) },
    ...(state === undefined ? {} : { form: state }),
    scripts: [assetHref(page, 'upload.js')],
    notes: mayUpload ? gone : viewOnly(page, { permission: t('work.permission.UPLOAD_VERSION'), ask: [] }),
    body: html`${sheetHead({ title: t('upload.versions.new'), text: t('upload.text') })}
${(mayUpload || state !== undefined) && body}`,
  })
}

type Drawn = { state: FormState; values: VersionValues }

async function uploadForm(request: OwnRequest, data: UploadData, { state, values }: Drawn): Promise<Markup> {
  const { page } = request
  const { t } = page.language
  const { draft } = data
  const names = await namesOfProjects(
    request,
    values.dependencies.map(({ project }) => project),
  )
  const changelog = textArea(page, {
    name: 'changelog',
    label: t('upload.changelog'),
    hint: t('upload.changelog.hint'),
    value: state.text('changelog', values.changelog),
    maxLength: 65_536,
    rows: 9,
    isOptional: true,
    errors: state.errors,
  })
  // The first button is the one that the Enter key presses: it must not remove anything.
  const content = html`<button class="vh" name="do" value="save" formnovalidate tabindex="-1" aria-hidden="true">${t('upload.save-draft')}</button>
${filesPart(request, { draft, state })}
${detailsPart(request, data, { state, values })}
${dependencyPart(request, { rows: values.dependencies, names, proposals: data.proposals, state })}
${sheetPart({ id: 'log', title: t('upload.changelog.title'), content: changelog })}
${publishPart(request, state)}
<div class="save"><p role="status" data-said>${draft?.draft_expires !== undefined && t('upload.expires', { at: new Date(draft.draft_expires) })}</p>${draft !== undefined && html`<button class="plain" name="do" value="discard" formnovalidate>${t('upload.discard')}</button>`}<button name="do" value="save" formnovalidate>${t('upload.save-draft')}</button><button class="main" name="do" value="publish" data-at="${t('upload.schedule')}">${t('upload.publish')}</button></div>`
  return html`<div data-upload data-api="${pathTo(page, '/v3/version_file/')}" data-texts="${uploadTexts(request)}">${form(
    page,
    {
      action: pathTo(page, withQuery(data.action, { draft: draft?.id })),
      hasFile: true,
      content,
    },
  )}</div>`
}

/** Texts of the script, by name. The script replaces the names in braces. */
function uploadTexts({ page }: OwnRequest): string {
  const { t } = page.language
  return JSON.stringify({
    waiting: t('upload.script.waiting'),
    checking: t('upload.script.checking'),
    sending: t('upload.script.sending', { percent: '{percent}', rate: '{rate}' }),
    stored: t('upload.script.stored'),
    failed: t('upload.script.failed'),
    cancelled: t('upload.script.cancelled'),
    duplicate: t('upload.script.duplicate', { number: '{number}' }),
    left: t('upload.script.left', { seconds: '{seconds}' }),
    cancel: t('upload.script.cancel', { name: '{name}' }),
    retry: t('upload.script.retry', { name: '{name}' }),
    said: t('upload.script.said', { name: '{name}', percent: '{percent}' }),
  })
}

function publishPart(request: OwnRequest, state: FormState): Markup {
  const { page } = request
  const { t } = page.language
  const when = state.text('when', 'now')
  const zone = state.text('zone', lastZone(request))
  const { errors } = state
  const cards = optionCards({
    legend: html`<span class="vh">${t('upload.when')}</span>`,
    name: 'when',
    options: [
      { value: 'now', label: t('upload.when.now'), text: t('upload.when.now.text'), isChosen: when !== 'at' },
      { value: 'at', label: t('upload.when.at'), text: t('upload.when.at.text'), isChosen: when === 'at' },
    ],
  })
  const wrong = errors.map((error) => (error.field === 'scheduled_at' ? { ...error, field: 'day' } : error))
  const shared = { isOptional: true, errors: wrong }
  const fields = html`<div class="pair">${textField(page, { ...shared, name: 'day', label: t('upload.day'), value: state.text('day'), placeholder: '2026-11-27', isName: true })}
${textField(page, { ...shared, name: 'time', label: t('upload.time'), value: state.text('time', '18:00'), placeholder: '18:00', isName: true })}
${textField(page, { ...shared, name: 'zone', label: t('upload.zone'), hint: t('upload.zone.hint', { offset: offsetText(zone, page.now) ?? '?' }), value: zone, maxLength: 64, isName: true })}</div>`
  return sheetPart({
    id: 'publish',
    title: t('upload.publish'),
    content: html`${cards}
${fields}`,
  })
}
