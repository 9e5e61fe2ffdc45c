// The pages that withdraw a version, delete it, or delete one of its files. The first also edits and undoes a withdrawal.
import type { FastifyReply } from 'fastify'
import { requirePermission } from '#features/basics/access/project-policy.ts'
import { WITHDRAWAL_KINDS } from '#features/catalogue/versions/kinds.ts'
import { deleteFile } from '#features/catalogue/versions/lifecycle/delete-file.ts'
import { deleteVersion } from '#features/catalogue/versions/lifecycle/delete-version.ts'
import { VersionPatch, WITHDRAWAL_REASON_MAX } from '#features/catalogue/versions/lifecycle/requests.ts'
import { updateVersion } from '#features/catalogue/versions/lifecycle/update-version.ts'
import { listVersionTraits } from '#features/catalogue/versions/queries.ts'
import { notFound, validationError } from '#lib/errors.ts'
import type { Taxonomy } from '#taxonomy/taxonomy.ts'
import { showConfirmation } from '#web/kit/forms/confirm.ts'
import type { FormState, Outcome } from '#web/kit/forms/form-page.ts'
import { checkValues } from '#web/kit/forms/read-form.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { html } from '#web/ui/html.ts'
import { pathTo } from '#web/ui/page-context.ts'
import { buttonForm, selectField, textArea } from '#web/ui/parts/fields.ts'
import type { ManagedProject } from '../project/managed-project.ts'
import { projectForm } from '../project/settings-frame.ts'
import { type Edited, loadEdited } from './edit-page.ts'
import { impactOf } from './impact-view.ts'
import { countDependents } from './queries.ts'

/** Number of versions from which the replacement is chosen. */
const CHOICES_MAX = 50

const KIND = 'withdrawn.kind'
const REASON = 'withdrawn.reason'
const REPLACEMENT = 'withdrawn.replacement'

export function withdrawalPages(pages: Pages, taxonomy: Taxonomy): void {
  projectForm(pages, taxonomy, {
    below: '/version/:version/withdraw',
    name: 'manageVersionWithdrawal',
    api: 'updateVersion reportImpact getImpactReport',
    show: (request, _project, state) => showWithdrawal(request, state),
    commands: {
      confirm: (request, _project, state) => {
        const replacement = state.text(REPLACEMENT)
        return save(request, {
          kind: state.text(KIND),
          reason: state.text(REASON),
          ...(replacement === '' ? {} : { replacement }),
        })
      },
      undo: (request) => save(request, null),
    },
    labels: { [REASON]: 'The reason', [KIND]: 'The kind', [REPLACEMENT]: 'The replacement' },
  })
}

async function save(request: OwnRequest, withdrawn: unknown): Promise<Outcome> {
  const { deps, viewer } = request
  const { version, membership, pages } = await loadEdited(request)
  await updateVersion(deps, viewer, { id: version.id, membership, patch: checkValues(VersionPatch, { withdrawn }) })
  return { done: withdrawn === null ? 'version-restored' : 'version-withdrawn', path: `${pages}/edit` }
}

async function showWithdrawal(request: OwnRequest, state: FormState): Promise<FastifyReply> {
  const { page, deps, t } = request
  const data = await loadEdited(request)
  const { version, pages, project } = data
  const offered = await listVersionTraits(deps.db, project.id, { offered: true, limit: CHOICES_MAX })
  const isWithdrawn = version.withdrawn !== undefined
  const isOnly = !isWithdrawn && offered.every(({ id }) => id === version.id)
  const consequences = isWithdrawn
    ? [t('upload.withdraw.now')]
    : [
        t('upload.withdraw.text'),
        ...(isOnly ? [t('upload.withdraw.only')] : []),
        ...(await impactOf(request, { projectId: project.id, versionId: version.id, action: 'withdraw' })),
      ]
  const number = version.version_number
  const undo = { action: pathTo(page, `${pages}/withdraw`), text: t('upload.withdraw.undo'), fields: { do: 'undo' } }
  const question = {
    title: t(isWithdrawn ? 'upload.withdraw.edit' : 'upload.withdraw.title', { number }),
    consequences,
    fields: fieldsOf(request, data, state, offered),
    path: `${pages}/withdraw`,
    isDanger: !isWithdrawn,
    button: t(isWithdrawn ? 'upload.withdraw.save' : 'upload.withdraw', { number }),
    cancel: `${pages}/edit`,
    below: isWithdrawn && html`<div class="slip sheet">${buttonForm(page, undo)}</div>`,
  }
  return showConfirmation(request, question, state)
}

function fieldsOf(
  { page }: OwnRequest,
  { version }: Edited,
  state: FormState,
  offered: readonly { id: string; version_number: string }[],
) {
  const { t } = page.language
  const { withdrawn } = version
  const { errors } = state
  const kind = state.text(KIND, withdrawn?.kind ?? 'broken')
  const chosen = state.text(REPLACEMENT, withdrawn?.replacement ?? '')
  const others = offered.filter(({ id }) => id !== version.id)
  const choices = [
    { value: '', label: t('upload.withdraw.replacement.none'), isChosen: chosen === '' },
    ...others.map(({ id, version_number }) => ({ value: id, label: version_number, isChosen: chosen === id })),
  ]
  return html`${selectField(page, {
    name: KIND,
    label: t('upload.withdraw.kind'),
    choices: WITHDRAWAL_KINDS.map((value) => ({
      value,
      label: t(`upload.withdraw.kind.${value}`),
      isChosen: kind === value,
    })),
    errors,
  })}
${textArea(page, { name: REASON, label: t('upload.withdraw.reason'), value: state.text(REASON, withdrawn?.reason ?? ''), maxLength: WITHDRAWAL_REASON_MAX, rows: 3, errors })}
${selectField(page, { name: REPLACEMENT, label: t('upload.withdraw.replacement'), choices, errors })}`
}

/** Registers the confirmation pages. */
export function versionDeletionPages(pages: Pages, taxonomy: Taxonomy): void {
  projectForm(pages, taxonomy, {
    below: '/version/:version/delete',
    name: 'manageVersionDeletion',
    api: 'deleteVersion',
    show: (request, _project, state) => showDeletion(request, state),
    commands: { confirm: confirmDeletion },
    labels: { name: 'The version number' },
  })
  projectForm(pages, taxonomy, {
    below: '/version/:version/file/:hash/delete',
    name: 'manageVersionFileDeletion',
    api: 'deleteVersionFile',
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
  const { page, deps, t } = request
  const { version, pages, project } = await loadEdited(request)
  const number = version.version_number
  const dependents = await countDependents(deps.db, version.id)
  const edit = `${pages}/edit`
  const question = {
    title: t('upload.delete.title', { number }),
    consequences: [
      t('upload.delete.files', { count: version.files.length }),
      t('upload.delete.downloads', { count: version.downloads }),
      dependents > 0 && t('upload.delete.dependents', { count: dependents }),
      ...(await impactOf(request, { projectId: project.id, versionId: version.id, action: 'remove' })),
    ].filter((text) => text !== false),
    instead: {
      text: t('upload.delete.archive.text'),
      href: `${pathTo(page, edit)}#state`,
      label: t('upload.delete.archive'),
    },
    path: `${pages}/delete`,
    button: t('upload.delete.button', { number }),
    cancel: edit,
    typed: number,
  }
  return showConfirmation(request, question, state)
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
  const { t } = request
  const { pages, file } = await fileOf(request)
  const question = {
    title: t('upload.file-delete.title', { name: file.filename }),
    consequences: [t('upload.file-delete.text')],
    path: `${pages}/file/${file.hashes.sha512}/delete`,
    button: t('upload.file-delete.button'),
    cancel: `${pages}/edit`,
  }
  return showConfirmation(request, question, state)
}
