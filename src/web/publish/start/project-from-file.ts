// The form that begins a project with a file. It shows the page for a new project again if the file is refused.

import type { FastifyReply } from 'fastify'
import {
  mustAwaitApproval,
  mustVerifyEmail,
  requireApproved,
  requireVerifiedEmail,
} from '#features/basics/access/email-policy.ts'
import { createProjectFromFile } from '#features/catalogue/publishing/create-project-from-file.ts'
import { ApiError } from '#lib/errors.ts'
import { viewOf } from '#lib/text/json-bytes.ts'
import { EMPTY } from '#web/kit/forms/form-page.ts'
import { attempt, errorsOf, type FormRefusal, refusedField } from '#web/kit/forms/read-form.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { projectPath } from '#web/kit/paths.ts'
import { nameMissingPermission, translateError } from '#web/ui/refusals.ts'
import {
  type CheckToken,
  type ReceivedForm,
  type RefusedFile,
  readFields,
  refusedFile,
  streamedForm,
} from '../version/form/receive-form.ts'
import { otherOwners } from '../version/form/store-parts.ts'
import { FILE_PATH } from './file-form.ts'
import { loadStart, showNewProject } from './new-project.ts'

/** Registers the form. Its scope leaves forms with files unparsed, because the handler streams them. */
export function projectFromFilePage(pages: Pages, checkToken: CheckToken): void {
  const post = (request: OwnRequest) => receiveFile(request, checkToken)
  pages.own('POST', FILE_PATH, 'publishNewProjectFromFile', post, streamedForm(checkToken))
}

async function receiveFile(request: OwnRequest, checkToken: CheckToken): Promise<FastifyReply> {
  const { deps, viewer, page, field } = request
  const mayStart = request.writeRefusal() === undefined && !mustAwaitApproval(viewer) && !mustVerifyEmail(deps, viewer)
  const form = await readFields(request, checkToken, mayStart)
  const { value, refusal } = await attempt(() => create(request, form), { organization_id: 'The owner' }).finally(() =>
    Promise.allSettled(form.parts.map(({ staged }) => deps.files.discard(staged))),
  )
  if (typeof value === 'string') return request.redirect(value, 'from-file')
  const shown = nameMissingPermission(page.language, translateError(page.language, refusal ?? refusalOf(value)))
  return showNewProject(request, await loadStart(request), {
    ...EMPTY,
    text: (name, current = '') => (name === 'owner' ? field('owner') : current),
    refusal: shown,
    errors: errorsOf({ refusal: shown }),
  })
}

const refusalOf = ({ filename, message, ...more }: RefusedFile): FormRefusal => ({
  field: 'files',
  message: `${filename}: ${message}`,
  status: 400,
  ...more,
})

/** Returns the path of the settings of the project, or the file that was refused. */
async function create(request: OwnRequest, { parts, refused }: ReceivedForm): Promise<string | RefusedFile> {
  const { deps, viewer, field, t } = request
  const readOnly = request.writeRefusal()
  if (readOnly !== undefined) throw readOnly
  requireApproved(viewer)
  requireVerifiedEmail(deps, viewer)
  if (parts.length + refused.length > 1) throw refusedField('files', t('publish.file.several'))
  if (refused[0] !== undefined) return refused[0]
  const [part] = parts
  if (part === undefined) throw refusedField('files', t('publish.file.none'))
  const { filename } = part
  const [other] = await otherOwners(request, '', parts)
  if (other !== undefined) return { filename, ...other }
  try {
    const project = await createProjectFromFile(deps, viewer, { part, organizationId: field('owner') || null })
    return `${projectPath(viewOf(project))}/settings`
  } catch (error) {
    const named = error instanceof ApiError ? error.details?.['field'] : undefined
    if (named === part.name) return refusedFile(filename, error as ApiError)
    // Another project took the free URL after it was suggested.
    if (named === 'slug') throw refusedField('files', t('publish.file.again'))
    if (named === 'name') throw refusedField('files', t('publish.file.name', { filename }))
    throw error
  }
}
