// Draws the page that uploads a version.
import type { FastifyReply } from 'fastify'
import { findVersionAhead } from '#features/catalogue/versions/lookup/version-filter.ts'
import { FILE_BYTES_MAX } from '#features/catalogue/versions/publish/prepare-files.ts'
import { EMPTY, type FormState } from '#web/kit/forms/form-page.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import { PATHS, withQuery } from '#web/kit/paths.ts'
import { showWork } from '#web/kit/work-page.ts'
import { timeAgo } from '#web/ui/format.ts'
import { attributes, html, type Markup, type Part } from '#web/ui/html.ts'
import { icon, type PageContext, pathTo } from '#web/ui/page-context.ts'
import { saveBarTexts, viewOnly } from '#web/ui/parts/actions.ts'
import { buttonForm, form } from '#web/ui/parts/fields.ts'
import { note } from '#web/ui/parts/lists.ts'
import { statusOf } from '#web/ui/parts/status.ts'
import { may } from '../../project/managed-project.ts'
import { projectSubject } from '../../project/settings-frame.ts'
import { changelogPart } from '../form/changelog-part.ts'
import { type DependencySearch, loadDependencyData } from '../form/dependency-data.ts'
import { dependencyPart } from '../form/dependency-part.ts'
import { detailsPart } from '../form/details-part.ts'
import { filesPart } from '../form/files-part.ts'
import { type RefusedFile, wholeMebibytes } from '../form/receive-form.ts'
import type { UploadData } from '../form/upload-data.ts'
import { type DependencyRow, shownValues, valuesOf } from '../form/version-values.ts'
import { uploadAside } from './aside.ts'
import { publishPart } from './publish-part.ts'

/** The submitted form; empty for a page that was only opened. */
export type Shown = {
  state?: FormState
  rows?: DependencyRow[]
  refused?: readonly RefusedFile[]
  search?: DependencySearch | undefined
}

export async function showUpload(request: OwnRequest, data: UploadData, shown: Shown): Promise<FastifyReply> {
  const { page, t } = request
  const { state } = shown
  const mayUpload = may(data, 'UPLOAD_VERSION')
  const title = t('upload.title', { name: data.view.name })
  const subject = projectSubject(request, data)
  const gone = data.isDraftGone && note(page, 'warn', html`<p>${t('upload.draft-gone')}</p>`)
  return showWork(request, {
    title,
    subject: {
      ...subject,
      name: t('upload.heading', { name: data.view.name }),
      facts: draftFacts(page, data),
      tools: data.draft === undefined ? subject.tools : discardButton(page, data),
      crumbs: [
        { path: data.path, label: data.view.name },
        { path: `${data.settings}/versions`, label: t('upload.versions') },
      ],
    },
    ...(state === undefined ? {} : { form: state }),
    notes: mayUpload
      ? [gone, await aheadNote(request, data, state)]
      : viewOnly(page, { permission: t('work.permission.UPLOAD_VERSION'), ask: [] }),
    body: (mayUpload || state !== undefined) && (await uploadForm(request, data, shown)),
  })
}

/** Names the version that stays the latest one, by the number that the form shows. */
async function aheadNote({ page, deps, t }: OwnRequest, data: UploadData, state: FormState = EMPTY): Promise<Part> {
  const { draft, proposals, project } = data
  const { version_number } = shownValues(state, valuesOf(draft, proposals))
  const placed = { projectId: project.id, id: draft?.id, number: version_number, ordering: draft?.ordering ?? null }
  const ahead = await findVersionAhead(deps.db, placed)
  if (ahead === undefined) return false
  const key = ahead.ordering === null ? 'upload.ahead' : 'upload.ahead.placed'
  return note(page, 'warn', html`<p>${t(key, { number: ahead.version_number })}</p>`)
}

function discardButton(page: PageContext, { action, draft }: UploadData): Markup {
  const text = html`${icon(page, 'trash')}${page.language.t('upload.discard')}`
  return buttonForm(page, {
    action: pathTo(page, withQuery(action, { draft: draft?.id })),
    text,
    fields: { do: 'discard' },
  })
}

function draftFacts(page: PageContext, { draft, view }: UploadData): readonly Part[] {
  const { language } = page
  const { t } = language
  const created =
    draft !== undefined &&
    language.rich('upload.draft-since', { at: timeAgo(language, new Date(draft.date_published), page.now) })
  return [
    html`${statusOf(page, 'version', 'draft')} ${created}`,
    html`${icon(page, 'users')}${t('upload.visible-to', { name: view.name })}`,
  ]
}

async function uploadForm(request: OwnRequest, data: UploadData, shown: Shown): Promise<Markup> {
  const { page, t } = request
  const { draft, proposals, previous, scan, waiting } = data
  const { state = EMPTY, refused = [], search } = shown
  const stored = valuesOf(draft, proposals)
  const values = shownValues(state, { ...stored, dependencies: shown.rows ?? stored.dependencies })
  const dependencies = await loadDependencyData(request, values.dependencies, search)
  // The first button is the one that the Enter key presses: it must not remove anything.
  const content = html`<div class="split"><div class="body flush"><h2 class="vh">${t('upload.versions.new')}</h2><button class="vh" name="do" value="save" formnovalidate tabindex="-1" aria-hidden="true">${t('upload.save-draft')}</button>
${filesPart(request, { version: draft, state, refused, scan, waiting })}
${detailsPart(request, data, { state, values, text: t('upload.details.text') })}
${dependencyPart(request, { data: dependencies, proposals, previous, state })}
${await changelogPart(request, { state, data, changelog: stored.changelog, swaps: 'preview aside' })}
${publishPart(request, data, { state, isFeatured: values.featured })}
${buttons(page, data)}</div>
${await uploadAside(request, data, { values, dependencies, refused, state })}</div>`
  return html`<div data-upload${uploadAttributes(page)}>${rowTemplate(page)}${form(page, {
    action: pathTo(page, withQuery(data.action, { draft: draft?.id })),
    hasFile: true,
    content,
  })}</div>`
}

function buttons(page: PageContext, { draft }: UploadData): Markup {
  const { t } = page.language
  const expires = draft?.draft_expires
  const text = expires === undefined ? '' : t('upload.expires', { at: new Date(expires) })
  return html`<div class="save" data-save${saveBarTexts(page)}><p role="status">${text}</p><button name="do" value="save" formnovalidate data-saves>${t('upload.save-draft')}</button><button class="main" name="do" value="publish" data-at="${t('upload.schedule')}">${t('upload.publish')}</button></div>`
}

/** Texts and limits of the script. It replaces the names in braces. */
function uploadAttributes(page: PageContext): Markup {
  const { t } = page.language
  const limit = wholeMebibytes(FILE_BYTES_MAX)
  return attributes({
    'data-max': FILE_BYTES_MAX,
    'data-url': pathTo(page, PATHS.uploadedFiles),
    'data-texts': JSON.stringify({
      waiting: t('upload.script.waiting'),
      checking: t('upload.script.checking'),
      sending: t('upload.script.sending', { percent: '{percent}', sent: '{sent}', total: '{total}' }),
      rate: t('upload.script.rate', { rate: '{rate}' }),
      left: t('upload.script.left', { seconds: '{seconds}' }),
      reading: t('upload.script.reading'),
      lost: t('upload.script.lost'),
      offline: t('upload.script.offline'),
      elsewhere: t('upload.script.elsewhere'),
      paused: t('upload.script.paused'),
      held: t('upload.script.held'),
      limit: t('upload.script.limit'),
      unreadable: t('upload.script.unreadable'),
      failed: t('upload.script.failed'),
      cancelled: t('upload.script.cancelled'),
      signedOut: t('upload.script.signed-out'),
      tooLarge: t('upload.script.size', { size: '{size}', limit }),
      cancel: t('upload.script.cancel', { name: '{name}' }),
      pause: t('upload.script.pause', { name: '{name}' }),
      resume: t('upload.script.resume', { name: '{name}' }),
      retry: t('upload.script.retry', { name: '{name}' }),
      anyway: t('upload.script.anyway', { name: '{name}' }),
      remove: t('upload.remove', { name: '{name}' }),
      said: t('upload.script.said', { name: '{name}', percent: '{percent}' }),
      offset: t('upload.zone.offset', { offset: '{offset}' }),
    }),
  })
}

/** The row of a file that the script sends. */
function rowTemplate(page: PageContext): Markup {
  return html`<template data-row><li>${icon(page, 'package')}<div><p class="name" dir="auto"></p><progress max="1" value="0"></progress><p class="facts"></p></div><div class="line"><button type="button" class="tight" data-again hidden>${icon(page, 'refresh')}</button><button type="button" class="tight" data-hold hidden>${icon(page, 'pause')}${icon(page, 'play')}</button><button type="button" class="tight" data-away>${icon(page, 'x')}</button></div></li></template>`
}
