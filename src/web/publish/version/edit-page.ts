// The page that edits a published version, and the confirmation pages that delete it or one of its files.
import type { FastifyReply } from 'fastify'
import { requirePermission } from '#features/basics/access/project-policy.ts'
import { deleteFile } from '#features/catalogue/versions/lifecycle/delete-file.ts'
import { deleteVersion } from '#features/catalogue/versions/lifecycle/delete-version.ts'
import { VersionPatch } from '#features/catalogue/versions/lifecycle/requests.ts'
import { updateVersion } from '#features/catalogue/versions/lifecycle/update-version.ts'
import { getVersionAsMember } from '#features/catalogue/versions/lookup/version-cache.ts'
import type { VersionView } from '#features/catalogue/versions/views.ts'
import { ApiError, notFound, validationError } from '#lib/errors.ts'
import { isIdForm } from '#lib/ids.ts'
import type { FormError } from '#platform/html/forms.ts'
import { form, textArea } from '#platform/html/forms.ts'
import { html } from '#platform/html/html.ts'
import { pathTo } from '#platform/html/page-context.ts'
import { confirmation, saveBar } from '#platform/html/work/actions.ts'
import { optionCards } from '#platform/html/work/choices.ts'
import { sheetPart } from '#platform/html/work/frame.ts'
import type { Taxonomy } from '#platform/taxonomy/taxonomy.ts'
import { attempt, checkValues } from '#web/kit/forms.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { projectSegments } from '#web/kit/paths.ts'
import { EMPTY, type FormState, submittedForm } from '#web/kit/work/form-page.ts'
import { versionOf } from '#web/site/lists/rows.ts'
import { loadManagedProject, type ManagedProject, may } from '../project/managed-project.ts'
import { projectForm, showProjectSettings, toCanonical } from '../project/settings-frame.ts'
import { dependencyPart } from './dependency-part.ts'
import { detailsPart } from './details-part.ts'
import { filesPart } from './files-part.ts'
import { countDependents } from './queries.ts'
import { type CheckToken, readFields, streamedForm } from './receive-form.ts'
import { storeParts } from './store-parts.ts'
import { namesOfProjects } from './upload-data.ts'
import { type DependencyRow, patchOf, submittedRows, valuesOf } from './upload-form.ts'
import { VERSION_LABELS } from './upload-page.ts'

type Edited = ManagedProject & { version: VersionView /** Path of the version's pages. */; pages: string }

/** @throws ApiError 404 unless the version belongs to the project of the path. */
async function loadEdited(request: OwnRequest): Promise<Edited> {
  const managed = await loadManagedProject(request)
  const id = request.param('version')
  if (!isIdForm(id)) throw notFound('version')
  const { version } = await getVersionAsMember(request.deps, request.viewer, id)
  if (version.project.id !== managed.project.id) throw notFound('version')
  return { ...managed, version: versionOf(version), pages: `${managed.path}/version/${id}` }
}

/** Registers the page. Its scope leaves forms with files unparsed. */
export function editPages(pages: Pages, taxonomy: Taxonomy, checkToken: CheckToken): void {
  for (const segment of projectSegments(taxonomy)) {
    const path = `/${segment}/:slug/version/:version/edit`
    pages.own('GET', path, 'manageVersion', async (request) => {
      const data = await loadEdited(request)
      return toCanonical(request, data) ?? showEdit(request, data, { state: EMPTY, rows: undefined })
    })
    pages.own('POST', path, 'manageVersionForm', (request) => saveEdit(request, checkToken), streamedForm(checkToken))
  }
}

async function saveEdit(request: OwnRequest, checkToken: CheckToken): Promise<FastifyReply> {
  const { req, deps, viewer, page } = request
  const data = await loadEdited(request)
  const received = await readFields(request, checkToken, may(data, 'UPLOAD_VERSION'))
  const state = submittedForm(req.body)
  const rows = submittedRows(state)
  const errors: FormError[] = received.refused.map(({ filename, message }) => ({
    field: 'files',
    message: `${filename}: ${message}`,
    lang: 'en',
  }))
  const { refusal } = await attempt(async () => {
    const readOnly = page.site.readOnly?.(page.language)
    if (readOnly !== undefined) throw new ApiError('service_unavailable', readOnly)
    requirePermission(viewer, data.membership, 'UPLOAD_VERSION')
    const target = {
      data: { ...data, action: data.pages, draft: data.version, isDraftGone: false, proposals: undefined },
      errors,
    }
    if (received.parts.length > 0) await storeParts(request, target, received.parts)
    const { id, status, membership } = { ...data.version, membership: data.membership }
    const chosen = state.text('status')
    const patch = {
      ...patchOf(state, { rows, version: data.version, taxonomy: deps.taxonomy }),
      ...(chosen === '' || chosen === status ? {} : { status: chosen }),
    }
    await updateVersion(deps, viewer, { id, membership, patch: checkValues(VersionPatch, patch) })
  }, VERSION_LABELS).finally(() => Promise.allSettled(received.parts.map(({ staged }) => deps.files.discard(staged))))
  if (refusal === undefined && errors.length === 0) return request.redirect(`${data.pages}/edit`, 'saved')
  const all = refusal === undefined ? errors : [...errors, refusal]
  const [first] = all
  const shown = first === undefined ? undefined : { ...first, status: refusal?.status ?? 400 }
  return showEdit(request, await loadEdited(request), { state: { ...state, errors: all, refusal: shown }, rows })
}

async function showEdit(
  request: OwnRequest,
  data: Edited,
  { state, rows }: { state: FormState; rows: DependencyRow[] | undefined },
): Promise<FastifyReply> {
  const { page } = request
  const { t } = page.language
  const { version, pages } = data
  const values = { ...valuesOf(version, undefined), ...(rows === undefined ? {} : { dependencies: rows }) }
  const names = await namesOfProjects(
    request,
    values.dependencies.map(({ project }) => project),
  )
  const changelog = textArea(page, {
    name: 'changelog',
    label: t('upload.changelog'),
    value: state.text('changelog', values.changelog),
    maxLength: 65_536,
    rows: 9,
    isOptional: true,
    errors: state.errors,
  })
  const removal = ({ hashes }: VersionView['files'][number]) => pathTo(page, `${pages}/file/${hashes.sha512}/delete`)
  const remove =
    may(data, 'DELETE_VERSION') &&
    html`<a class="button" href="${pathTo(page, `${pages}/delete`)}">${t('upload.delete.button', { number: version.version_number })}</a>`
  const content = html`${filesPart(request, { draft: version, state, removal, text: t('upload.edit.files') })}
${detailsPart(request, data, { state, values })}
${dependencyPart(request, { rows: values.dependencies, names, proposals: undefined, state, isFixed: true })}
${sheetPart({ id: 'log', title: t('upload.changelog.title'), content: changelog })}
${statusPart(request, version, state)}
${saveBar(page, { more: remove })}`
  const title = t('upload.edit.title', { number: version.version_number, name: data.view.name })
  return showProjectSettings(request, data, {
    section: '/versions',
    title,
    heading: title,
    needs: { permission: 'UPLOAD_VERSION', name: t('work.permission.UPLOAD_VERSION') },
    form: state,
    body:
      (may(data, 'UPLOAD_VERSION') || state.isSubmitted) &&
      form(page, { action: pathTo(page, `${pages}/edit`), hasFile: true, content }),
  })
}

function statusPart({ page }: OwnRequest, { status }: VersionView, state: FormState) {
  const { t } = page.language
  const chosen = state.text('status', status)
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
    options,
  })
  return sheetPart({ id: 'state', title: t('upload.edit.status'), content: cards })
}

/** Registers the confirmation pages. */
export function versionDeletionPages(pages: Pages, taxonomy: Taxonomy): void {
  projectForm(pages, taxonomy, {
    below: '/version/:version/delete',
    name: 'manageVersionDeletion',
    show: (request, _project, state) => showDeletion(request, state),
    commands: { confirm: confirmDeletion },
    labels: { name: 'The version number' },
  })
  projectForm(pages, taxonomy, {
    below: '/version/:version/file/:hash/delete',
    name: 'manageVersionFileDeletion',
    show: (request, _project, state) => showFileDeletion(request, state),
    commands: { confirm: confirmFileDeletion },
  })
}

async function confirmDeletion(request: OwnRequest, data: ManagedProject, state: FormState) {
  const { version, membership } = await loadEdited(request)
  requirePermission(request.viewer, membership, 'DELETE_VERSION')
  if (state.text('name').trim() !== version.version_number)
    throw validationError('name', `must be ${version.version_number}`)
  await deleteVersion(request.deps, request.viewer, { id: version.id, membership })
  return { done: 'version-deleted', path: `${data.settings}/versions` } as const
}

async function showDeletion(request: OwnRequest, state: FormState): Promise<FastifyReply> {
  const { page, deps } = request
  const { t } = page.language
  const { version, pages } = await loadEdited(request)
  const dependents = await countDependents(deps.db, version.id)
  const title = t('upload.delete.title', { number: version.version_number })
  const edit = pathTo(page, `${pages}/edit`)
  const body = confirmation(page, {
    title,
    consequences: [
      t('upload.delete.files', { count: version.files.length }),
      t('upload.delete.downloads', { count: version.downloads }),
      dependents > 0 && t('upload.delete.dependents', { count: dependents }),
    ].filter((text) => text !== false),
    instead: { text: t('upload.delete.archive.text'), href: `${edit}#state`, label: t('upload.delete.archive') },
    action: pathTo(page, `${pages}/delete`),
    button: t('upload.delete.button', { number: version.version_number }),
    cancel: edit,
    typed: version.version_number,
    errors: state.errors,
  })
  return request.show({ title, body, refusal: state.refusal })
}

async function fileOf(request: OwnRequest) {
  const data = await loadEdited(request)
  const file = data.version.files.find(({ hashes }) => hashes.sha512 === request.param('hash'))
  if (file === undefined) throw notFound('file')
  return { ...data, file }
}

async function confirmFileDeletion(request: OwnRequest) {
  const { version, project, pages, file } = await fileOf(request)
  await deleteFile(request.deps, request.viewer, { id: file.id, versionId: version.id, projectId: project.id })
  return { done: 'file-deleted', path: `${pages}/edit` } as const
}

async function showFileDeletion(request: OwnRequest, state: FormState): Promise<FastifyReply> {
  const { page } = request
  const { t } = page.language
  const { pages, file } = await fileOf(request)
  const title = t('upload.file-delete.title', { name: file.filename })
  const body = confirmation(page, {
    title,
    consequences: [t('upload.file-delete.text')],
    action: pathTo(page, `${pages}/file/${file.hashes.sha512}/delete`),
    button: t('upload.file-delete.button'),
    cancel: pathTo(page, `${pages}/edit`),
    errors: state.errors,
  })
  return request.show({ title, body, refusal: state.refusal })
}
