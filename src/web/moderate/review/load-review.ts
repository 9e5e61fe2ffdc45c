// Everything that the review page of a project shows, with a constant number of statements.

import type { Static } from 'typebox'
import type { Membership } from '#features/basics/access/project-policy.ts'
import { type CachedProject, getProjectAsMember } from '#features/catalogue/projects/lookup/project-cache.ts'
import { listSimilarProjects } from '#features/catalogue/projects/similar/queries.ts'
import { type SimilarProjectView, toSimilarProjectView } from '#features/catalogue/projects/similar/views.ts'
import type { ProjectView } from '#features/catalogue/projects/views.ts'
import { mayJudge } from '#features/catalogue/reviews/policy.ts'
import type { QueuedScan } from '#features/catalogue/scans/queries.ts'
import type { ProjectChangesView } from '#features/community/moderation/changes-views.ts'
import { type FileEntries, listEntriesOf } from '#features/community/moderation/entries/read-entries.ts'
import { hasLostClaim, listProjectScans, listQueue } from '#features/community/moderation/queries.ts'
import { findUndoable, readProjectChanges, type UndoableDecision } from '#features/community/moderation/read-changes.ts'
import { listReplies, type ReplyRow } from '#features/community/moderation/replies/queries.ts'
import { listTakedowns, type TakedownRow } from '#features/community/moderation/takedown/queries.ts'
import { listOwnerRecords, type OwnerRecord } from '#features/community/moderation/users/queries.ts'
import { listVersionDetails, type VersionDetails } from '#features/community/moderation/version-details.ts'
import type { QueueRow } from '#features/community/moderation/views.ts'
import { notFound } from '#lib/errors.ts'
import { isIdForm } from '#lib/ids.ts'
import { viewOf } from '#lib/text/json-bytes.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import { loadThread, type Thread } from '#web/kit/thread.ts'
import { inLanguage } from '../replies.ts'

export type Changes = Static<typeof ProjectChangesView>
export type ReviewedVersion = Changes['versions']['added'][number]

export type Review = {
  project: CachedProject
  membership: Membership
  view: ProjectView
  /** Undefined if the project is not under review. */
  entry: QueueRow | undefined
  /** Whether the viewer's claim has expired, and nobody has claimed the project since. */
  hadClaim: boolean
  changes: Changes
  thread: Thread
  scans: QueuedScan[]
  replies: ReplyRow[]
  record: OwnerRecord | undefined
  similar: SimilarProjectView[]
  /** Entries by version: of the newest new version those that differ from an earlier one; in a first review, of all shown versions. */
  entries: ReadonlyMap<string, FileEntries[]>
  /** Details of the new versions that the page shows in full. */
  details: ReadonlyMap<string, VersionDetails>
  /** The decision that led to this page, on this or on the previous project. */
  undoable: UndoableDecision | undefined
  /** Whether the viewer can reject the open appeal. True without an appeal. */
  mayJudge: boolean
  /** The last takedown of the project that was not undone. */
  takedown: TakedownRow | undefined
}

/** Number of new versions that the page shows in full; the others have one line. */
export const EXPANDED = 5
/** Maximum number of entries of a version that the review page lists. */
const ENTRIES_MAX = 60

/** @throws ApiError 404 if there is no such project */
export async function loadReview(request: OwnRequest): Promise<Review> {
  const { deps, viewer, param, query } = request
  // A slug would lead to another project after it changes hands.
  if (!isIdForm(param('id'))) throw notFound('project')
  const { project, membership } = await getProjectAsMember(deps, viewer, param('id'))
  const { id } = project
  if (id !== param('id')) throw notFound('project')
  const view = viewOf(project)
  const only = { text: '', loaders: undefined, sort: 'oldest', count: 1, offset: 0, ids: [id] } as const
  const was = query('was')
  const [[entry], changes, thread, scans, replies, similar, undoable, hadClaim, [takedown]] = await Promise.all([
    listQueue(deps.db, only, viewer.id),
    readProjectChanges(deps, id),
    loadThread(request, view.thread_id),
    listProjectScans(deps.db, id),
    listReplies(deps.db),
    listSimilarProjects(deps.db, viewer, { name: view.name, projectId: id }),
    findUndoable(deps, isIdForm(was) ? was : id),
    hasLostClaim(deps.db, id, viewer.id),
    listTakedowns(deps.db, { limit: 1, projectId: id }),
  ])
  const owner = entry?.owner ?? undefined
  const [records, mayReject, entries, details] = await Promise.all([
    listOwnerRecords(deps.db, owner === undefined ? [] : [owner]),
    entry?.appeal ? mayJudge(deps.db, viewer, entry.appeal.decided_by?.id ?? null) : true,
    loadEntries(request, changes),
    listVersionDetails(
      deps.db,
      changes.versions.added.slice(0, EXPANDED).map(({ id: version }) => version),
    ),
  ])
  const record = owner === undefined ? undefined : records.get(`${owner.kind}:${owner.id}`)
  return {
    ...{
      project,
      membership,
      view,
      entry,
      changes,
      thread,
      scans,
      replies: inLanguage(replies, record?.language),
      record,
      entries,
      details,
      undoable,
      hadClaim,
      takedown,
    },
    mayJudge: mayReject,
    similar: similar.map((row) => toSimilarProjectView(row, deps)),
  }
}

async function loadEntries({ deps }: OwnRequest, { versions, review }: Changes): Promise<Review['entries']> {
  const query = { text: '', states: ['added', 'removed', 'changed'], count: ENTRIES_MAX, offset: 0 } as const
  const shown = versions.added.slice(0, review === 'first' ? EXPANDED : 1)
  if (shown.length === 0) return new Map()
  const compared = shown.map(({ id, compare_with: against }) => ({ versionId: id, against: against ?? undefined }))
  return listEntriesOf(deps, compared, query)
}
