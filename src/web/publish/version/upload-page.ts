// The page that uploads a version: a draft collects the files and fields, and is published at the end. Files are stored
// first, so that an error in a field never costs an upload.
import type { FastifyReply } from 'fastify'
import { requirePermission } from '#features/basics/access/project-policy.ts'
import { deleteFile } from '#features/catalogue/versions/lifecycle/delete-file.ts'
import { deleteVersion } from '#features/catalogue/versions/lifecycle/delete-version.ts'
import { VersionPatch } from '#features/catalogue/versions/lifecycle/requests.ts'
import { updateVersion } from '#features/catalogue/versions/lifecycle/update-version.ts'
import { ApiError, notFound, validationError } from '#lib/errors.ts'
import type { FormError } from '#platform/html/forms.ts'
import type { Taxonomy } from '#platform/taxonomy/taxonomy.ts'
import { attempt, checkValues, type FormRefusal } from '#web/kit/forms.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { projectSegments, versionPath, withQuery } from '#web/kit/paths.ts'
import type { Done } from '#web/kit/request.ts'
import { type FormState, submittedForm } from '#web/kit/work/form-page.ts'
import { restoredForm } from '#web/kit/work/lost-input.ts'
import { loadManagedProject, may } from '../project/managed-project.ts'
import { toCanonical } from '../project/settings-frame.ts'
import { rememberZone } from '../zone.ts'
import { type CheckToken, type ReceivedForm, readFields, streamedForm } from './receive-form.ts'
import { instantOf } from './schedule.ts'
import { storeParts } from './store-parts.ts'
import { findProjectOf, loadUpload, type UploadData, withDraft } from './upload-data.ts'
import { type DependencyRow, patchOf, submittedRows } from './upload-form.ts'
import { showUpload } from './upload-view.ts'

/** Names of the fields at the beginning of error messages. */
export const VERSION_LABELS = {
  files: 'The file',
  version_number: 'The version number',
  name: 'The title',
  version_type: 'The channel',
  loaders: 'The list of loaders',
  game_versions: 'The list of game versions',
  environment: 'The environment',
  mrpack_loaders: 'The list of loaders of the pack',
  dependencies: 'The dependency',
  changelog: 'The changelog',
  day: 'The date',
  time: 'The time',
  zone: 'The time zone',
  scheduled_at: 'The date',
}

/** Registers the page. Its scope leaves forms with files unparsed, because the handler streams them. */
export function uploadPages(pages: Pages, taxonomy: Taxonomy, checkToken: CheckToken): void {
  for (const segment of projectSegments(taxonomy)) {
    const path = `/${segment}/:slug/versions/new`
    pages.own('GET', path, 'publishVersion', async (request) => {
      const data = await loadUpload(request)
      if (data.isDraftGone) throw notFound('draft')
      const moved = toCanonical(request, data)
      if (moved !== undefined) return moved
      const stored = await restoredForm(request)
      if (stored === undefined) return showUpload(request, data, { rows: undefined, state: undefined })
      const state = { ...submittedForm(stored), isRestored: true }
      return showUpload(request, data, { rows: submittedRows(state), state })
    })
    const post = (request: OwnRequest) => receiveUpload(request, checkToken)
    pages.own('POST', path, 'publishVersionForm', post, streamedForm(checkToken))
  }
}

/** The submitted form while it is processed. `draft` changes as soon as files or fields are stored. */
type Submission = {
  data: UploadData
  state: FormState
  rows: DependencyRow[]
  errors: FormError[]
}

type Next = { path: string; done?: Done } | 'show'

async function receiveUpload(request: OwnRequest, checkToken: CheckToken): Promise<FastifyReply> {
  const { req, deps, page } = request
  const data = await loadUpload(request)
  const mayUpload = may(data, 'UPLOAD_VERSION') && page.site.readOnly?.(page.language) === undefined
  const form = await readFields(request, checkToken, mayUpload)
  const state = submittedForm(req.body)
  const submission: Submission = { data, state, rows: submittedRows(state), errors: [] }
  const { value, refusal } = await attempt(() => run(request, submission, form), VERSION_LABELS).finally(() =>
    Promise.allSettled(form.parts.map(({ staged }) => deps.files.discard(staged))),
  )
  if (value !== undefined && value !== 'show' && submission.errors.length === 0) {
    return request.redirect(value.path, value.done)
  }
  return showAgain(request, submission, refusal)
}

/** Shows the form with everything that was entered, and the draft as it is now. */
async function showAgain(
  request: OwnRequest,
  { data, state, rows, errors }: Submission,
  refusal: FormRefusal | undefined,
): Promise<FastifyReply> {
  const status = refusal?.status ?? 400
  const missing =
    errors.length > 0 && refusal?.field !== undefined && errors.some(({ field }) => field === refusal.field)
  const all = refusal === undefined || missing ? errors : [...errors, refusal]
  const [first] = all
  const shown = first === undefined ? undefined : { ...first, status }
  const managed = await loadManagedProject(request)
  const fresh = await withDraft(request, managed, data.draft?.id ?? '')
  return showUpload(
    request,
    { ...fresh, isDraftGone: data.isDraftGone },
    { rows, state: { ...state, errors: all, refusal: shown } },
  )
}

/** Runs the pressed button. Stores the files first, whatever the button is. */
async function run(request: OwnRequest, submission: Submission, { parts, refused }: ReceivedForm): Promise<Next> {
  const { page, viewer, field } = request
  const { data, errors } = submission
  const readOnly = page.site.readOnly?.(page.language)
  if (readOnly !== undefined) throw new ApiError('service_unavailable', readOnly)
  requirePermission(viewer, data.membership, 'UPLOAD_VERSION')
  const [action = '', argument = ''] = field('do').split('.')
  for (const { filename, message } of refused)
    errors.push({ field: 'files', message: `${filename}: ${message}`, lang: 'en' })
  const needsDraft = parts.length > 0 || ['upload', 'save', 'publish'].includes(action)
  if (needsDraft) await storeParts(request, submission, parts)
  switch (action) {
    case 'upload':
      return { path: pathOf(submission) }
    case 'remove':
      await removeFile(request, submission, argument)
      return 'show'
    case 'find':
      await addDependency(request, submission)
      return 'show'
    case 'drop':
      submission.rows.splice(Number(argument), 1)
      return 'show'
    case 'discard':
      await discard(request, submission)
      return { path: `${data.settings}/versions`, done: 'draft-discarded' }
    case 'save':
      await saveFields(request, submission)
      return { path: pathOf(submission), done: 'draft-saved' }
    default:
      return publish(request, submission)
  }
}

const pathOf = ({ data }: Submission): string => withQuery(data.action, { draft: data.draft?.id })

async function saveFields({ deps, viewer }: OwnRequest, { data, state, rows }: Submission): Promise<void> {
  const { draft, membership } = data
  if (draft === undefined) return
  const known = rows.filter(({ project, file }) => project !== '' || file !== '')
  const patch = patchOf(state, { rows: known, version: draft, taxonomy: deps.taxonomy })
  await updateVersion(deps, viewer, { id: draft.id, membership, patch: checkValues(VersionPatch, patch) })
}

/** Saves the fields before the publication, so that they remain if the version lacks something. */
async function publish(request: OwnRequest, submission: Submission): Promise<Next> {
  const { deps, viewer, field, reply } = request
  const { data, rows, errors } = submission
  if (data.isDraftGone)
    throw new ApiError('conflict', 'The draft was deleted or published in the meantime. Your entries are below.')
  const isScheduled = field('when') === 'at'
  const schedule = isScheduled ? { day: field('day'), time: field('time'), zone: field('zone') } : undefined
  const unresolved = rows.findIndex(({ project, file }) => project === '' && file === '')
  await saveFields(request, submission)
  if (unresolved >= 0) {
    throw validationError(
      'dependencies',
      `${rows[unresolved]?.declared ?? ''} has no project. Find the project, keep it as an external file, or remove it`,
    )
  }
  if (errors.length > 0) return 'show'
  const at = schedule === undefined ? undefined : instantOf(schedule)
  if (schedule !== undefined) rememberZone({ deps, reply }, schedule.zone)
  const { draft, membership } = data
  if (draft === undefined) throw notFound('draft')
  const patch =
    at === undefined
      ? { status: 'listed' as const }
      : { status: 'scheduled' as const, requested_status: 'listed' as const, scheduled_at: at.toISOString() }
  await updateVersion(deps, viewer, { id: draft.id, membership, patch }).catch((error: unknown) => {
    addMissing(request, submission, error)
    throw error
  })
  const number = field('version_number').trim()
  const path = versionPath(data.path, { id: draft.id, version_number: at === undefined ? number : '' })
  return at === undefined
    ? { path, done: 'version-published' }
    : { path: `${data.settings}/versions`, done: 'version-scheduled' }
}

/** Names every missing field, not only the first one. */
function addMissing({ page }: OwnRequest, { errors }: Submission, error: unknown): void {
  const missing = error instanceof ApiError ? error.details?.['missing'] : undefined
  if (!Array.isArray(missing)) return
  const { t } = page.language
  const texts = {
    files: t('upload.missing.files'),
    version_number: t('upload.missing.version_number'),
    name: t('upload.missing.name'),
    loaders: t('upload.missing.loaders'),
    game_versions: t('upload.missing.game_versions'),
  }
  for (const field of missing) {
    errors.push({
      field: String(field),
      message: texts[field as keyof typeof texts] ?? t('upload.missing.other', { field: String(field) }),
    })
  }
}

async function removeFile({ deps, viewer }: OwnRequest, { data }: Submission, sha512: string): Promise<void> {
  const { draft, project } = data
  const file = draft?.files.find(({ hashes }) => hashes.sha512 === sha512)
  if (draft === undefined || file === undefined) throw notFound('file')
  await deleteFile(deps, viewer, { id: file.id, versionId: draft.id, projectId: project.id })
}

async function addDependency(request: OwnRequest, { rows }: Submission): Promise<void> {
  const found = await findProjectOf(request, request.field('dep_find'))
  if (found === undefined) throw validationError('dep_find', 'No project that you can see has this name, URL or ID')
  const open = rows.find(({ project, file }) => project === '' && file === '')
  if (rows.some(({ project }) => project === found))
    throw validationError('dep_find', 'This project is already in the list')
  if (open !== undefined) Object.assign(open, { project: found, isResolved: true })
  else rows.push({ declared: '', project: found, file: '', version: '', type: 'required', isResolved: true })
}

async function discard({ deps, viewer }: OwnRequest, { data }: Submission): Promise<void> {
  const { draft, membership } = data
  if (draft !== undefined) await deleteVersion(deps, viewer, { id: draft.id, membership })
}
