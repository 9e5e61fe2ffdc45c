// Bulk actions of the queue: claim, release, and reject projects of one owner as spam.

import type { FastifyReply } from 'fastify'
import { ProjectPatch } from '#features/catalogue/projects/edit/requests.ts'
import { updateProject } from '#features/catalogue/projects/edit/update-project.ts'
import { getProjectAsMember } from '#features/catalogue/projects/lookup/project-cache.ts'
import { claimProject, releaseClaim } from '#features/community/moderation/claim-project.ts'
import { listQueue } from '#features/community/moderation/queries.ts'
import type { QueueRow } from '#features/community/moderation/views.ts'
import { ApiError, invalidInput, validationError } from '#lib/errors.ts'
import { isBlank } from '#lib/text/text-rules.ts'
import { showConfirmation } from '#web/kit/forms/confirm.ts'
import { limitsOf } from '#web/kit/forms/fields.ts'
import type { FormState, Outcome } from '#web/kit/forms/form-page.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import { reviewPath } from '#web/kit/paths.ts'
import { html } from '#web/ui/html.ts'
import { pathTo } from '#web/ui/page-context.ts'
import { hiddenField, textArea } from '#web/ui/parts/fields.ts'
import { QUEUE_PAGE, type QueueChoice, queuePath } from './queue-request.ts'
import { rowId } from './queue-table.ts'

/** Maximum number of projects that one form changes: the rows of a page. */
const PICKED_MAX = QUEUE_PAGE

type Queue = { choice: QueueChoice }

/** Returns the project of the pressed button, otherwise the selected projects. */
function pickedIds(form: FormState): string[] {
  const ids = [...new Set(form.argument === '' ? form.list('ids') : [form.argument])]
  if (ids.length === 0) throw invalidInput('Select at least one project', 'ids')
  if (ids.length > PICKED_MAX) throw invalidInput(`Select at most ${PICKED_MAX} projects`, 'ids')
  return ids
}

/** Runs a command for each project. Conflicts with other moderators are counted, and do not stop the others. */
async function forEachPicked(ids: readonly string[], act: (id: string) => Promise<unknown>) {
  let conflicts = 0
  for (const id of ids) {
    try {
      await act(id)
    } catch (error) {
      if (!(error instanceof ApiError) || (error.kind !== 'conflict' && error.kind !== 'not_found')) throw error
      conflicts += 1
    }
  }
  return { count: String(ids.length - conflicts), failed: String(conflicts) }
}

export async function claimPicked({ deps, viewer }: OwnRequest, { choice }: Queue, form: FormState): Promise<Outcome> {
  const counts = await forEachPicked(pickedIds(form), (id) => claimProject(deps, viewer, id))
  return { done: 'claimed', path: queuePath(choice), with: counts, ...rowOf(form) }
}

export async function releasePicked(
  { deps, viewer }: OwnRequest,
  { choice }: Queue,
  form: FormState,
): Promise<Outcome> {
  const counts = await forEachPicked(pickedIds(form), (id) => releaseClaim(deps, viewer, id))
  return { done: 'released', path: queuePath(choice), with: counts, ...rowOf(form) }
}

/** Leads back to the row of the pressed button, so that the keyboard continues there. */
const rowOf = ({ argument }: FormState) => (argument === '' ? {} : { fragment: rowId(argument) })

/** Returns the selected projects that are still under review. @throws ApiError unless they belong to one owner */
async function loadPicked({ deps, viewer }: OwnRequest, ids: readonly string[]): Promise<QueueRow[]> {
  const page = { text: '', loaders: undefined, sort: 'oldest', count: PICKED_MAX, offset: 0, ids } as const
  const rows = await listQueue(deps.db, page, viewer.id)
  if (rows.length === 0) throw new ApiError('conflict', 'These projects are no longer under review')
  const owners = new Set(rows.map(({ owner }) => (owner === null ? '' : `${owner.kind}:${owner.id}`)))
  if (owners.size > 1 || owners.has('')) throw invalidInput('Select only projects of one owner', 'ids')
  return rows
}

/** Shows the projects that are rejected with the same message. @throws ApiError unless they belong to one owner */
export async function confirmSpam(request: OwnRequest, { choice }: Queue, form: FormState): Promise<FastifyReply> {
  const { page, t, rich } = request
  const rows = await loadPicked(request, pickedIds(form))
  const owner = rows[0]?.owner?.name ?? ''
  const seen = rows.map((row) => [hiddenField('ids', row.id), hiddenField('seen', row.seen)])
  const message = textArea(page, {
    name: 'message',
    label: t('moderate.message'),
    hint: t('moderate.spam.hint'),
    value: form.text('message'),
    ...limitsOf(ProjectPatch.properties.moderation_message),
    rows: 4,
    errors: form.errors,
  })
  const question = {
    title: t('moderate.spam.title', { count: rows.length }),
    consequences: [
      rich('moderate.spam.owner', { owner: html`<bdi>${owner}</bdi>` }),
      ...rows.map(({ id, name }) => html`<a href="${pathTo(page, reviewPath(id))}"><bdi>${name}</bdi></a>`),
      t('moderate.spam.notified'),
    ],
    path: queuePath(choice),
    button: t('moderate.spam.button', { count: rows.length }),
    fields: html`${seen}${message}`,
    command: 'reject',
  }
  return showConfirmation(request, question, form)
}

export async function rejectSpam(request: OwnRequest, { choice }: Queue, form: FormState): Promise<Outcome> {
  const { deps, viewer } = request
  const ids = pickedIds(form)
  const rows = await loadPicked(request, ids)
  const message = form.text('message')
  if (isBlank(message)) throw validationError('message', 'must not be blank')
  if (message.length > 2000) throw validationError('message', 'must be at most 2000 characters')
  const seen = new Map(ids.map((id, index) => [id, form.list('seen')[index] ?? '']))
  const counts = await forEachPicked(
    rows.map(({ id }) => id),
    async (id) => {
      const { project, membership } = await getProjectAsMember(deps, viewer, id)
      const patch = { status: 'rejected', moderation_message: message, seen: seen.get(id) ?? '' } as const
      await updateProject(deps, viewer, { project, membership, patch })
    },
  )
  return { done: 'spam', path: queuePath(choice), with: counts }
}
