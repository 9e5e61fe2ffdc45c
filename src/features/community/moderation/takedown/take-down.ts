import type { Viewer } from '#features/basics/access/viewer.ts'
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
import { notFound } from '#lib/errors.ts'
import { newId } from '#lib/ids.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Tx } from '#platform/db/db.ts'
import { enqueue } from '#platform/jobs/queue.ts'
import type { Deps } from '#ports/deps.ts'
import { blockContents, countBlockedFiles, countContents, listBlockedVersions, releaseContents } from './blocks.ts'
import { type Concerned, type ConcernedVersion, getConcerned } from './queries.ts'
import type { Takedown, TakedownKind } from './requests.ts'

export type TakedownDeps = Deps & UpdatingDeps

/**
 * Hides content with the commands that change each part of it, blocks the contents of its files, and returns the ID of the
 * takedown and what it concerned. The takedown, its entry in the audit log and the blocks are stored before the first change,
 * and each change has its own entry. Parts that already have the visibility stay as they are, so that an interrupted takedown
 * can be repeated.
 * @throws ApiError 404 if the content does not exist, and the errors of the commands.
 */
export async function takeDown(deps: TakedownDeps, viewer: Viewer, takedown: Takedown): Promise<TakenDown> {
  const concerned = await findContent(deps, takedown)
  const id = newId()
  await transaction(deps, async (tx, changed) => {
    await insertTakedown(tx, { id, viewer, takedown, concerned, now: new Date(deps.now()) })
    if (takedown.block_files) await blockContents(tx, { takedownId: id, target: takedown, now: new Date(deps.now()) })
    if (takedown.block_files && takedown.visibility === 'rejected')
      await enqueue(tx, 'takedowns.block-images', { takedownId: id })
    else if (takedown.visibility === 'rejected') await releaseContents(tx, takedown)
    await recordTakedown(tx, viewer, takedown, concerned)
    changed.addEach('version', await listBlockedVersions(tx, { takedownId: id }))
  })
  await hide(deps, viewer, takedown, concerned)
  return { id, concerned, blocked: await countBlockedFiles(deps.db, id) }
}

export type TakenDown = { id: string; concerned: Concerned; blocked: number }

async function insertTakedown(
  tx: Tx,
  {
    id,
    viewer,
    takedown,
    concerned,
    now,
  }: { id: string; viewer: Viewer; takedown: Takedown; concerned: Concerned; now: Date },
): Promise<void> {
  const { kind, id: target, reason, reference, visibility } = takedown
  await tx
    .insertInto('takedown')
    .values({
      id,
      created: now,
      actor_id: viewer.id,
      kind,
      target,
      reason,
      reference,
      visibility,
      before: JSON.stringify(concerned),
    })
    .execute()
}

/** Gives each part of the content the visibility of the takedown. */
async function hide(deps: TakedownDeps, viewer: Viewer, takedown: Takedown, concerned: Concerned): Promise<void> {
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
}

/** Returns what a takedown would concern, and the number of files that it would block. @throws ApiError 404 */
export async function previewTakedown(deps: Pick<Deps, 'db'>, takedown: Takedown): Promise<Omit<TakenDown, 'id'>> {
  const concerned = await findContent(deps, takedown)
  return { concerned, blocked: takedown.block_files ? await countContents(deps.db, takedown) : 0 }
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

/** Returns the subject of an audit entry. For an image it is the project, because entries have no kind for images. */
export const subjectOf = (kind: TakedownKind, id: string, projectId: string | undefined) =>
  kind === 'image' ? { kind: 'project' as const, id: projectId ?? id } : { kind, id }

async function recordTakedown(
  tx: Tx,
  viewer: Viewer,
  { kind, id, reason, reference, visibility, block_files }: Takedown,
  { projects, versions }: Concerned,
): Promise<void> {
  await recordAudit(tx, {
    action: 'content.taken_down',
    actor: actorOf(viewer),
    subject: subjectOf(kind, id, projects[0]?.id),
    details: {
      kind,
      reason,
      reference,
      visibility,
      projects: projects.map((project) => project.id),
      versions: visibility === 'unlisted' ? versions.length : 0,
      blocks_files: block_files,
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
  await transaction(deps, (tx, changed) =>
    insertNotifications(tx, changed, [accountId], {
      type: 'content_taken_down',
      item,
      ...(message === undefined ? {} : { message }),
    }),
  )
}
