// The confirmation pages that delete a version or one of its files.

import type { FastifyReply } from 'fastify'
import { requirePermission } from '#features/basics/access/project-policy.ts'
import { deleteFile } from '#features/catalogue/versions/lifecycle/delete-file.ts'
import { deleteVersion } from '#features/catalogue/versions/lifecycle/delete-version.ts'
import { notFound, validationError } from '#lib/errors.ts'
import type { Taxonomy } from '#taxonomy/taxonomy.ts'
import { showConfirmation } from '#web/kit/forms/confirm.ts'
import type { FormState } from '#web/kit/forms/form-page.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { pathTo } from '#web/ui/page-context.ts'
import type { ManagedProject } from '../project/managed-project.ts'
import { projectForm } from '../project/settings-frame.ts'
import { loadEdited } from './edit-page.ts'
import { impactOf } from './impact-view.ts'
import { countDependents } from './queries.ts'

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
