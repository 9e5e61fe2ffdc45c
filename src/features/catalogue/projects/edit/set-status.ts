import type { Viewer } from '#features/basics/access/viewer.ts'
import { notFound } from '#lib/errors.ts'
import type { ChangeSet } from '#platform/cache/changes.ts'
import type { Tx } from '#platform/db/db.ts'
import type { ProjectStatus } from '#taxonomy/project-status.ts'
import { listVersionIds, lockProject } from '../queries.ts'
import { changeStatus } from './change-status.ts'

/**
 * Changes the status of a project as a moderator, in the transaction of another command. Without a message, the reverse of a
 * decision that is not final undoes the decision.
 * @throws ApiError 404, and like `changeStatus`.
 */
export async function setStatus(
  tx: Tx,
  changed: ChangeSet,
  { viewer, id, to, message, now }: { viewer: Viewer; id: string; to: ProjectStatus; message?: string; now: number },
): Promise<void> {
  const project = await lockProject(tx, id)
  if (project === undefined) throw notFound('project')
  const written = message === undefined ? {} : { moderation_message: message }
  const patch = { status: to, ...written }
  const { columns, announce } = await changeStatus(tx, changed, {
    viewer,
    membership: {},
    project,
    next: project,
    patch,
    now,
  })
  await tx
    .updateTable('project')
    .set({ ...written, ...columns })
    .where('id', '=', id)
    .execute()
  await announce()
  changed.add('project', id)
  // Versions are cached with the status of their project, which decides who can see them.
  changed.addEach('version', await listVersionIds(tx, id))
}
