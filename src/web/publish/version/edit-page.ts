// The page that edits a version: the fields of the upload page, the stored files with their scan, and the status.

import type { FastifyReply } from 'fastify'
import { requirePermission } from '#features/basics/access/project-policy.ts'
import { isPublicVersionStatus } from '#features/basics/access/version-status.ts'
import { findScan, type ScanRow } from '#features/catalogue/scans/queries.ts'
import { VersionPatch } from '#features/catalogue/versions/lifecycle/requests.ts'
import { updateVersion } from '#features/catalogue/versions/lifecycle/update-version.ts'
import { getVersionAsMember } from '#features/catalogue/versions/lookup/version-cache.ts'
import { findAnyVersionId } from '#features/catalogue/versions/queries.ts'
import type { VersionView } from '#features/catalogue/versions/views.ts'
import { ApiError, notFound } from '#lib/errors.ts'
import { viewOf } from '#lib/text/json-bytes.ts'
import type { Taxonomy } from '#taxonomy/taxonomy.ts'
import { EMPTY, type FormState, submittedForm } from '#web/kit/forms/form-page.ts'
import { showLostForm } from '#web/kit/forms/lost-input.ts'
import { attempt, checkValues } from '#web/kit/forms/read-form.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { projectSegments, withQuery } from '#web/kit/paths.ts'
import { withdrawnNote } from '#web/site/version/version-parts.ts'
import { html, type Part } from '#web/ui/html.ts'
import { type PageContext, pathTo } from '#web/ui/page-context.ts'
import { saveBar } from '#web/ui/parts/actions.ts'
import { type FormError, form } from '#web/ui/parts/fields.ts'
import { note } from '#web/ui/parts/lists.ts'
import { loadManagedProject, type ManagedProject, may } from '../project/managed-project.ts'
import { showProjectSettings, toCanonical } from '../project/settings-frame.ts'
import { changelogPart } from './form/changelog-part.ts'
import { changeDependencies, isDependencyAction } from './form/dependency-commands.ts'
import { type DependencySearch, loadDependencyData } from './form/dependency-data.ts'
import { dependencyPart } from './form/dependency-part.ts'
import { detailsPart } from './form/details-part.ts'
import { errorOfStored, errorsOfRefused } from './form/file-errors.ts'
import { filesPart } from './form/files-part.ts'
import { labelsOf } from './form/labels.ts'
import { publicationErrors } from './form/publication-errors.ts'
import { type CheckToken, type ReceivedForm, type RefusedFile, readFields, streamedForm } from './form/receive-form.ts'
import { storeParts } from './form/store-parts.ts'
import { type DependencyRow, patchOf, shownValues, submittedRows, valuesOf } from './form/version-values.ts'
import { isNewDraft, usualScanSeconds } from './queries.ts'
import { statusPart } from './status-part.ts'

export type Edited = ManagedProject & {
  version: VersionView
  scan: ScanRow | undefined
  /** Path of the version's pages. */
  pages: string
}

/** @throws ApiError 404 unless the version belongs to the project of the path. */
export async function loadEdited(request: OwnRequest): Promise<Edited> {
  const managed = await loadManagedProject(request)
  const id = await findAnyVersionId(request.deps.db, managed.project.id, request.param('version'))
  if (id === undefined) throw notFound('version')
  const { version } = await getVersionAsMember(request.deps, request.viewer, id)
  if (version.project.id !== managed.project.id) throw notFound('version')
  const scan = await findScan(request.deps.db, id)
  return { ...managed, version: viewOf(version), scan, pages: `${managed.path}/version/${id}` }
}

/** Registers the page. Its scope leaves forms with files unparsed. */
export function editPages(pages: Pages, taxonomy: Taxonomy, checkToken: CheckToken): void {
  for (const segment of projectSegments(taxonomy)) {
    const path = `/${segment}/:slug/version/:version/edit`
    pages.own(
      'GET',
      path,
      'manageVersion',
      async (request) => {
        const data = await loadEdited(request)
        const moved = toCanonical(request, data)
        if (moved !== undefined) return moved
        // The page to edit has neither proposals nor a list of missing fields.
        if (data.version.status === 'draft' && (await isNewDraft(request.deps.db, data.version.id)))
          return request.redirect(withQuery(`${data.path}/versions/new`, { draft: data.version.id }))
        return showEdit(request, data, { state: EMPTY })
      },
      { api: 'updateVersion getVersionScan' },
    )
    pages.own('POST', path, 'manageVersionForm', (request) => saveEdit(request, checkToken), streamedForm(checkToken))
  }
}

/** The submitted form while it is processed. */
type Submission = {
  data: Edited
  state: FormState
  rows: DependencyRow[]
  refused: RefusedFile[]
  search?: DependencySearch | undefined
}

async function saveEdit(request: OwnRequest, checkToken: CheckToken): Promise<FastifyReply> {
  const { req, deps } = request
  const data = await loadEdited(request).catch((error: unknown) => {
    if (error instanceof ApiError && error.kind === 'not_found') return error
    throw error
  })
  if (data instanceof ApiError) {
    // Nothing changes, so that a form without a token is as absent as its page.
    await readFields(request, async () => {})
    return showLostForm(request, data)
  }
  const received = await readFields(request, checkToken, may(data, 'UPLOAD_VERSION'))
  const state = submittedForm(req.body)
  const submission: Submission = { data, state, rows: submittedRows(state), refused: received.refused }
  const errors: FormError[] = []
  const explain = async (error: unknown): Promise<never> => {
    if (error instanceof ApiError) errors.push(...(await explained(request, submission, error)))
    throw error
  }
  const { value, refusal } = await attempt(
    () => run(request, submission, received).catch(explain),
    labelsOf(submission.rows),
  ).finally(() => Promise.allSettled(received.parts.map(({ staged }) => deps.files.discard(staged))))
  const { rows, refused, search } = submission
  if (value === 'saved' && refused.length === 0) return request.redirect(`${data.pages}/edit`, 'saved')
  const all = [...errorsOfRefused(refused), ...errors, ...(refusal === undefined || errors.length > 0 ? [] : [refusal])]
  const [first] = all
  const shown = first === undefined ? undefined : { ...first, status: refusal?.status ?? 400 }
  const next = { ...state, errors: all, refusal: shown }
  return showEdit(request, await loadEdited(request), { state: next, rows, refused, search })
}

/** Runs the pressed button. */
async function run(request: OwnRequest, submission: Submission, { parts }: ReceivedForm): Promise<'saved' | 'show'> {
  const { deps, viewer, field } = request
  const { data, state, rows, refused } = submission
  const { version, membership } = data
  const refusal = request.writeRefusal()
  if (refusal !== undefined) throw refusal
  requirePermission(viewer, membership, 'UPLOAD_VERSION')
  const pressed = field('do').split('.')
  if (isDependencyAction(pressed[0] ?? '')) {
    submission.search = await changeDependencies(request, { rows, projectId: data.project.id }, pressed)
    return 'show'
  }
  if (pressed[0] === 'preview') return 'show'
  if (parts.length > 0) refused.push(...(await storeParts(request, { ...data, versionId: version.id }, parts)))
  const chosen = state.text('status')
  const patch = {
    ...patchOf(state, { rows, version, taxonomy: deps.taxonomy }),
    ...(chosen === '' || chosen === version.status ? {} : { status: chosen }),
  }
  await updateVersion(deps, viewer, { id: version.id, membership, patch: checkValues(VersionPatch, patch) })
  return 'saved'
}

/** Returns the errors by field, where the refusal of the API names no field of the form. */
async function explained(request: OwnRequest, { data, state }: Submission, error: ApiError): Promise<FormError[]> {
  const { fileRules } = request.deps
  const { version } = await loadEdited(request)
  const ofFile = errorOfStored(request.page, error, { version, fileRules, loaders: state.list('loaders') })
  return ofFile === undefined ? publicationErrors(request, data, error) : [ofFile]
}

/** A version that was never published has nothing to withdraw. */
function withdrawLink(page: PageContext, { version, pages }: Edited): Part {
  const { t } = page.language
  if (version.withdrawn === undefined && !isPublicVersionStatus(version.status)) return false
  const key = version.withdrawn === undefined ? 'upload.withdraw' : 'upload.withdraw.edit'
  return html`<a class="button" href="${pathTo(page, `${pages}/withdraw`)}">${t(key, { number: version.version_number })}</a>`
}

type Shown = {
  state: FormState
  rows?: DependencyRow[]
  refused?: readonly RefusedFile[]
  search?: DependencySearch | undefined
}

async function showEdit(request: OwnRequest, data: Edited, { state, rows, refused = [], search }: Shown) {
  const { page, t } = request
  const { version, scan, pages } = data
  const stored = valuesOf(version, undefined)
  const values = shownValues(state, { ...stored, dependencies: rows ?? stored.dependencies })
  const dependencies = await loadDependencyData(request, values.dependencies, search)
  const removal = ({ hashes }: VersionView['files'][number]) => pathTo(page, `${pages}/file/${hashes.sha512}/delete`)
  const remove =
    may(data, 'DELETE_VERSION') &&
    html`<a class="button" href="${pathTo(page, `${pages}/delete`)}">${t('upload.delete.button', { number: version.version_number })}</a>`
  const text = `${t('upload.edit.downloads', { count: version.downloads })} ${t('upload.edit.files')}`
  const content = html`${filesPart(request, { version, state, refused, scan, isDetailed: true, text, ...(may(data, 'DELETE_VERSION') ? { removal } : { removal: null }) })}
${detailsPart(request, data, { state, values })}
${dependencyPart(request, { data: dependencies, state })}
${await changelogPart(request, { state, data, changelog: stored.changelog, version: version.id })}
${statusPart(page, version, { state, isFeatured: values.featured })}
${saveBar(page, { more: html`${withdrawLink(page, data)}${remove}` })}`
  const title = t('upload.edit.title', { number: version.version_number, name: data.view.name })
  return showProjectSettings(request, data, {
    section: '/versions',
    title,
    heading: title,
    needs: 'UPLOAD_VERSION',
    form: state,
    body: [
      await scanPart(request, data),
      withdrawnNote(page, version, undefined),
      (may(data, 'UPLOAD_VERSION') || state.isSubmitted) &&
        form(page, { action: pathTo(page, `${pages}/edit`), hasFile: true, content }),
    ],
  })
}

type Scanned = ManagedProject & {
  version: VersionView
  scan: ScanRow | undefined /** Path of the version's pages. */
  pages: string
}

/** ID of the part, which the script updates while the scan runs. */
const ID = 'scan'

/** Renders the state of the scan unless the files have passed it. Text of the scanner is shown as it is. */
async function scanPart(request: OwnRequest, data: Scanned): Promise<Part> {
  const { page, deps, t } = request
  const { scan, version, view } = data
  if (scan === undefined || scan.state === 'pass') return html`<div id="${ID}"></div>`
  const reason = scan.reason !== null && html` <q dir="auto">${scan.reason}</q>`
  if (scan.state === 'pending') {
    const seconds = await usualScanSeconds(deps.db, view.id)
    const usual =
      seconds === undefined ? '' : ` ${t('upload.scan.usual', { seconds: Math.max(1, Math.ceil(seconds)) })}`
    const then = version.requested_status === null ? '' : ` ${t('upload.scan.then')}`
    return html`<div id="${ID}" class="part notices" data-refresh>${note(page, 'warn', html`<p><span class="strong">${t('upload.scan.pending')}</span>${usual} ${t('upload.scan.leave')}${then}</p>`, { role: 'status' })}</div>`
  }
  if (scan.state === 'warn')
    return html`<div id="${ID}" class="part notices">${note(page, 'warn', html`<p><span class="strong">${t('upload.scan.warn')}</span>${reason}</p>`)}</div>`
  const found = scan.findings.filter(({ verdict }) => verdict === 'quarantine')
  const items = found.map(
    (finding) =>
      html`<li><bdi>${finding.filename}</bdi>${finding.reason !== null && html`: <q dir="auto">${finding.reason}</q>`}</li>`,
  )
  const list = items.length > 0 ? html`<ul>${items}</ul>` : html`<p>${reason}</p>`
  return html`<div id="${ID}" class="part notices">${note(page, 'bad', html`<p class="strong">${t('upload.scan.quarantine')}</p>${list}<p>${t('upload.scan.options')}</p><div class="line">${removals(request, data, found)}<a class="button" href="${pathTo(page, `${data.settings}/review#thread`)}">${t('upload.scan.contact')}</a></div>`)}</div>`
}

/** A quarantined file can be deleted if the version has other files, otherwise the version. */
function removals({ page }: OwnRequest, data: Scanned, found: readonly { file_id: string; filename: string }[]): Part {
  const { t } = page.language
  const { version, pages } = data
  if (!may(data, 'DELETE_VERSION')) return false
  const files = version.files.filter(({ id }) => found.some(({ file_id }) => file_id === id))
  if (files.length === 0 || files.length === version.files.length)
    return html`<a class="button" href="${pathTo(page, `${pages}/delete`)}">${t('upload.delete.button', { number: version.version_number })}</a>`
  return files.map(
    ({ hashes, filename }) =>
      html`<a class="button" href="${pathTo(page, `${pages}/file/${hashes.sha512}/delete`)}">${t('upload.scan.delete-file', { name: filename })}</a>`,
  )
}
