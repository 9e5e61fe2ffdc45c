// The page that uploads a version: a draft collects the files and fields, and is published at the end. Files are stored
// first, so that an error in a field never costs an upload.
import type { FastifyReply } from 'fastify'
import { requirePermission } from '#features/basics/access/project-policy.ts'
import { deleteFile } from '#features/catalogue/versions/lifecycle/delete-file.ts'
import { deleteVersion } from '#features/catalogue/versions/lifecycle/delete-version.ts'
import { VersionPatch } from '#features/catalogue/versions/lifecycle/requests.ts'
import { HELD } from '#features/catalogue/versions/lifecycle/scan-gate.ts'
import { updateVersion } from '#features/catalogue/versions/lifecycle/update-version.ts'
import { getVersionAsMember } from '#features/catalogue/versions/lookup/version-cache.ts'
import { deleteUpload } from '#features/catalogue/versions/uploads/delete-upload.ts'
import { ApiError, notFound, validationError } from '#lib/errors.ts'
import type { Taxonomy } from '#taxonomy/taxonomy.ts'
import { type FormState, submittedForm } from '#web/kit/forms/form-page.ts'
import { restoredForm, showLostForm } from '#web/kit/forms/lost-input.ts'
import { attempt, checkValues, type FormRefusal, refusedField } from '#web/kit/forms/read-form.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { projectSegments, versionPath, withQuery } from '#web/kit/paths.ts'
import type { Done } from '#web/kit/request.ts'
import type { FormError } from '#web/ui/parts/fields.ts'
import { loadManagedProject, may } from '../../project/managed-project.ts'
import { toCanonical } from '../../project/settings-frame.ts'
import { rememberZone } from '../../zone.ts'
import { changeDependencies, isDependencyAction } from '../form/dependency-commands.ts'
import type { DependencySearch } from '../form/dependency-data.ts'
import { errorOfStored, errorsOfRefused } from '../form/file-errors.ts'
import { labelsOf } from '../form/labels.ts'
import { publicationErrors } from '../form/publication-errors.ts'
import { type CheckToken, type ReceivedForm, type RefusedFile, readFields, streamedForm } from '../form/receive-form.ts'
import { instantOf } from '../form/schedule.ts'
import { createDraft, findKnownFile, storeParts, storeUpload } from '../form/store-parts.ts'
import { loadUpload, type UploadData, withDraft } from '../form/upload-data.ts'
import { type DependencyRow, isOpen, patchOf, submittedRows } from '../form/version-values.ts'
import { showUpload } from './upload-view.ts'

/** Registers the page. Its scope leaves forms with files unparsed, because the handler streams them. */
export function uploadPages(pages: Pages, taxonomy: Taxonomy, checkToken: CheckToken): void {
  for (const segment of projectSegments(taxonomy)) {
    const path = `/${segment}/:slug/versions/new`
    pages.own(
      'GET',
      path,
      'publishVersion',
      async (request) => {
        const data = await loadUpload(request)
        if (data.isDraftGone) throw notFound('draft')
        const moved = toCanonical(request, data)
        if (moved !== undefined) return moved
        const stored = await restoredForm(request)
        if (stored === undefined) return showUpload(request, data, {})
        const state = { ...submittedForm(stored), isRestored: true }
        return showUpload(request, data, { rows: submittedRows(state), state })
      },
      { api: 'createVersion addVersionFiles getVersionProposals listGames listLoaderFieldValues' },
    )
    const post = (request: OwnRequest) => receiveUpload(request, checkToken)
    pages.own('POST', path, 'publishVersionForm', post, streamedForm(checkToken))
  }
}

/** The submitted form while it is processed. `data` changes as soon as files are stored. */
type Submission = {
  data: UploadData
  state: FormState
  rows: DependencyRow[]
  refused: RefusedFile[]
  errors: FormError[]
  search?: DependencySearch | undefined
}

type Next = { path: string; done?: Done } | 'show'

async function receiveUpload(request: OwnRequest, checkToken: CheckToken): Promise<FastifyReply> {
  const { req, deps } = request
  const data = await loadUpload(request).catch((error: unknown) => {
    if (error instanceof ApiError && error.kind === 'not_found') return error
    throw error
  })
  if (data instanceof ApiError) {
    // The project was deleted, or the membership ended: the texts are shown.
    // Nothing changes, so that a form without a token is as absent as its page.
    await readFields(request, async () => {})
    return showLostForm(request, data)
  }
  const mayUpload = may(data, 'UPLOAD_VERSION') && request.writeRefusal() === undefined
  const form = await readFields(request, checkToken, mayUpload)
  const state = submittedForm(req.body)
  const submission: Submission = { data, state, rows: submittedRows(state), refused: form.refused, errors: [] }
  const { value, refusal } = await attempt(() => run(request, submission, form), labelsOf(submission.rows)).finally(
    () => Promise.allSettled(form.parts.map(({ staged }) => deps.files.discard(staged))),
  )
  const isComplete = submission.errors.length + submission.refused.length === 0
  if (value !== undefined && value !== 'show' && isComplete) return request.redirect(value.path, value.done)
  return showAgain(request, submission, refusal)
}

/** Shows the form with everything that was entered, and the draft as it is now. */
async function showAgain(
  request: OwnRequest,
  { data, state, rows, refused, errors, search }: Submission,
  refusal: FormRefusal | undefined,
): Promise<FastifyReply> {
  const own = [...errorsOfRefused(refused), ...errors]
  // `errors` explains the refusal of a publication field by field.
  const all = refusal === undefined || errors.length > 0 ? own : [...own, refusal]
  const [first] = all
  const shown = first === undefined ? undefined : { ...first, status: refusal?.status ?? 400 }
  const fresh = await withDraft(request, await loadManagedProject(request), data.draft?.id ?? '')
  return showUpload(
    request,
    { ...fresh, isDraftGone: data.isDraftGone },
    { rows, refused, search, state: { ...state, errors: all, refusal: shown } },
  )
}

/** Runs the pressed button. Stores the files first, whatever the button is. */
async function run(request: OwnRequest, submission: Submission, { parts }: ReceivedForm): Promise<Next> {
  const { viewer, field } = request
  const { data, rows } = submission
  const refused = request.writeRefusal()
  if (refused !== undefined) throw refused
  requirePermission(viewer, data.membership, 'UPLOAD_VERSION')
  const pressed = field('do').split('.')
  const [action = '', argument = ''] = pressed
  if (parts.length > 0 || ['upload', 'save', 'publish'].includes(action)) await storeFiles(request, submission, parts)
  if (isDependencyAction(action)) {
    const edited = { rows, projectId: data.project.id, previous: data.previous }
    submission.search = await changeDependencies(request, edited, pressed)
    if (submission.search === undefined) submission.state = withoutSearches(submission.state)
    return 'show'
  }
  switch (action) {
    case 'upload':
      return { path: pathOf(submission) }
    case 'preview':
      return 'show'
    case 'check':
      await checkFile(request, submission)
      return 'show'
    case 'add':
      await addUpload(request, submission, argument)
      return { path: pathOf(submission) }
    case 'forget':
      await forgetUpload(request, argument)
      return 'show'
    case 'remove':
      await removeFile(request, submission, argument)
      return 'show'
    case 'discard':
      await discard(request, submission)
      return { path: `${data.settings}/versions`, done: 'draft-discarded' }
    case 'save':
      await saveFields(request, submission)
      return { path: pathOf(submission, 'draft-saved') }
    default:
      return publish(request, submission)
  }
}

const pathOf = ({ data }: Submission, done?: Done): string => withQuery(data.action, { draft: data.draft?.id, done })

/** The fields of a search that has ended are empty. */
function withoutSearches(state: FormState): FormState {
  return { ...state, text: (name, current) => (/^dep_(find|query)/.test(name) ? '' : state.text(name, current)) }
}

/** Stores the files in the draft, which it creates if necessary. */
async function storeFiles(request: OwnRequest, submission: Submission, parts: ReceivedForm['parts']): Promise<void> {
  const { data } = submission
  if (data.isDraftGone && parts.length === 0) return
  const versionId = data.draft?.id ?? (await createDraft(request, data.project.id))
  submission.refused.push(...(await storeParts(request, { ...data, versionId }, parts)))
  submission.data = await withDraft(request, data, versionId)
}

/** Adds a file that was sent in parts to the draft, or only its name while parts are missing. */
async function addUpload(request: OwnRequest, submission: Submission, id: string): Promise<void> {
  const { data } = submission
  const versionId = data.draft?.id ?? (await createDraft(request, data.project.id))
  submission.refused.push(...(await storeUpload(request, { ...data, versionId }, id)))
  submission.data = await withDraft(request, data, versionId)
}

/** Deletes a file that was not sent completely. Another tab can have done so. */
async function forgetUpload({ deps, viewer }: OwnRequest, id: string): Promise<void> {
  await deleteUpload(deps, viewer, id).catch((error: unknown) => {
    if (!(error instanceof ApiError) || error.kind !== 'not_found') throw error
  })
}

/** Says where a file already is, before the script sends it. */
async function checkFile(request: OwnRequest, { data, refused }: Submission): Promise<void> {
  const known = await findKnownFile(request, data, request.field('sha512'))
  if (known !== undefined) refused.push({ filename: request.field('filename').slice(0, 255), ...known })
}

async function saveFields({ deps, viewer }: OwnRequest, { data, state, rows }: Submission): Promise<void> {
  const { draft, membership } = data
  if (draft === undefined) return
  const patch = patchOf(state, { rows, version: draft, taxonomy: deps.taxonomy })
  await updateVersion(deps, viewer, { id: draft.id, membership, patch: checkValues(VersionPatch, patch) })
}

/** Saves the fields before the publication, so that they remain if the version lacks something. */
async function publish(request: OwnRequest, submission: Submission): Promise<Next> {
  const { deps, viewer, field, reply } = request
  const { data, rows, errors, refused } = submission
  if (data.isDraftGone)
    throw new ApiError('conflict', 'The draft was deleted or published in the meantime. Your entries are below.')
  const isScheduled = field('when') === 'at'
  const schedule = isScheduled ? { day: field('day'), time: field('time'), zone: field('zone') } : undefined
  await saveFields(request, submission)
  const open = rows.filter(isOpen)
  if (open.length > 0) throw openDependencies(open)
  const { waiting } = data
  if (waiting.length > 0)
    throw refusedField('files', request.page.language.t('upload.error.waiting', { count: waiting.length }))
  if (errors.length + refused.length > 0) return 'show'
  const at = schedule === undefined ? undefined : instantOf(schedule)
  if (schedule !== undefined) rememberZone({ deps, reply }, schedule.zone)
  const { draft, membership } = data
  if (draft === undefined) throw notFound('draft')
  const patch =
    at === undefined
      ? { status: 'listed' as const }
      : { status: 'scheduled' as const, requested_status: 'listed' as const, scheduled_at: at.toISOString() }
  await updateVersion(deps, viewer, { id: draft.id, membership, patch }).catch(async (error: unknown) => {
    if (error instanceof ApiError) errors.push(...(await errorsOf(request, submission, error)))
    throw error
  })
  if (at !== undefined) return { path: `${data.settings}/versions`, done: 'version-scheduled' }
  const { version } = await getVersionAsMember(deps, viewer, draft.id)
  // Only members see the version until its files are scanned: this page shows them the scan.
  if (version.status === HELD) return { path: `${data.path}/version/${draft.id}/edit`, done: 'version-scanning' }
  const number = field('version_number').trim()
  return { path: versionPath(data.path, { id: draft.id, version_number: number }), done: 'version-published' }
}

function openDependencies(open: readonly DependencyRow[]): ApiError {
  const names = open.map(({ declared }) => declared).join(', ')
  return validationError(
    'dependencies',
    `${names}: no project has this ID. Find the project, keep the dependency as external, or remove it`,
  )
}

/** Returns all errors of a refused publication: missing fields, the same version, or a file that its loaders refuse. */
async function errorsOf(request: OwnRequest, { data, state }: Submission, error: ApiError): Promise<FormError[]> {
  const { deps, page } = request
  const { draft: version } = await withDraft(request, data, data.draft?.id ?? '')
  const { fileRules } = deps
  const ofFile = version && errorOfStored(page, error, { version, fileRules, loaders: state.list('loaders') })
  return ofFile === undefined ? publicationErrors(request, data, error) : [ofFile]
}

async function removeFile({ deps, viewer }: OwnRequest, { data }: Submission, sha512: string): Promise<void> {
  const { draft, project } = data
  const file = draft?.files.find(({ hashes }) => hashes.sha512 === sha512)
  if (draft === undefined || file === undefined) throw notFound('file')
  await deleteFile(deps, viewer, { id: file.id, versionId: draft.id, projectId: project.id })
}

async function discard({ deps, viewer }: OwnRequest, { data }: Submission): Promise<void> {
  const { draft, membership } = data
  if (draft !== undefined) await deleteVersion(deps, viewer, { id: draft.id, membership })
}
