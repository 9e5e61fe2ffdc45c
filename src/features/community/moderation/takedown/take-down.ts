import { actorOf } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { updateProject } from '#features/catalogue/projects/edit/update-project.ts'
import { getProjectAsMember } from '#features/catalogue/projects/lookup/project-cache.ts'
import { postMessage } from '#features/catalogue/threads/post-message.ts'
import { updateVersion } from '#features/catalogue/versions/lifecycle/update-version.ts'
import { getVersionAsMember } from '#features/catalogue/versions/lookup/version-cache.ts'
import { updateCollection } from '#features/community/collections/update-collection.ts'
import { insertNotifications } from '#features/people/notifications/queries.ts'
import { type UpdatingDeps, updateUser } from '#features/people/users/update-user.ts'
import type { Viewer } from '#lib/access/viewer.ts'
import { notFound } from '#lib/errors.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'
import { type Concerned, type ConcernedVersion, getConcerned } from './queries.ts'
import type { Takedown } from './requests.ts'

export type TakedownDeps = Deps & UpdatingDeps

/**
 * Withholds content with the commands that change each part of it, and returns what it concerned. The audit log has an entry
 * for the takedown before the first change, and one for each change. Parts that already have the visibility stay as they
 * are, so that an interrupted takedown can be repeated.
 * @throws ApiError 404 if the content does not exist, and the errors of the commands.
 */
export async function takeDown(deps: TakedownDeps, viewer: Viewer, takedown: Takedown): Promise<Concerned> {
  const concerned = await findContent(deps, takedown)
  await recordTakedown(deps, viewer, takedown, concerned)
  const { visibility, message } = takedown
  if (visibility === 'unlisted') await unlistVersions(deps, viewer, takedown, concerned.versions)
  else
    for (const { id, status } of concerned.projects) {
      if (status === visibility || visibility === 'cleared') continue
      const { project, membership } = await getProjectAsMember(deps, viewer, id)
      const patch = { status: visibility, ...(message === undefined ? {} : { moderation_message: message }) }
      await updateProject(deps, viewer, { project, membership, patch })
    }
  const { collection, user } = concerned
  if (collection !== null && collection.status !== 'rejected') {
    await updateCollection(deps, viewer, { id: collection.id, patch: { status: 'rejected' } })
    await notify(deps, collection.owner_id, 'collection', message)
  }
  if (user !== null && user.text !== null) {
    await updateUser(deps, viewer, { name: user.id, patch: { bio: null } })
    await notify(deps, user.id, 'user', message)
  }
  return concerned
}

/** Returns the content that a takedown concerns. @throws ApiError 404 if there is none. */
export async function findContent({ db }: Pick<Deps, 'db'>, takedown: Takedown): Promise<Concerned> {
  const concerned = await getConcerned(db, takedown)
  const { projects, collection, user } = concerned
  if (projects.length === 0 && collection === null && user === null) throw notFound(takedown.kind)
  return concerned
}

async function unlistVersions(
  deps: TakedownDeps,
  viewer: Viewer,
  { message }: Takedown,
  versions: readonly ConcernedVersion[],
): Promise<void> {
  for (const { id, status } of versions) {
    if (status === 'unlisted') continue
    const { version, membership } = await getVersionAsMember(deps, viewer, id)
    await updateVersion(deps, viewer, { id: version.id, membership, patch: { status: 'unlisted' } })
  }
  if (message === undefined) return
  const projectIds = [...new Set(versions.map(({ project_id }) => project_id))]
  if (projectIds.length === 0) return
  const threads = await deps.db.selectFrom('thread').select('id').where('project_id', 'in', projectIds).execute()
  const text = { text: message, isPrivate: false, replyingTo: null, imageIds: [] }
  for (const { id: threadId } of threads) await postMessage(deps, viewer, { threadId, message: text })
}

async function recordTakedown(
  { db }: Pick<Deps, 'db'>,
  viewer: Viewer,
  { kind, id, reason, reference, visibility }: Takedown,
  { projects, versions }: Concerned,
): Promise<void> {
  // An entry about an image names the project, because entries have no kind for images.
  const subject = kind === 'image' ? { kind: 'project' as const, id: projects[0]?.id ?? id } : { kind, id }
  await recordAudit(db, {
    action: 'content.taken_down',
    actor: actorOf(viewer),
    subject,
    details: {
      kind,
      reason,
      reference,
      visibility,
      projects: projects.map((project) => project.id),
      versions: visibility === 'unlisted' ? versions.length : 0,
    },
  })
}

/** Projects have threads; the owners of other content receive the message as a notification. */
async function notify(
  deps: Pick<Deps, 'db' | 'cache'>,
  accountId: string,
  item: 'collection' | 'user',
  message: string | undefined,
): Promise<void> {
  await transaction(deps, (tx) =>
    insertNotifications(tx, [accountId], {
      type: 'content_taken_down',
      item,
      ...(message === undefined ? {} : { message }),
    }),
  )
}
