// Everything that the page of a report shows: the item with its owner, all reports about it, and the saved replies.
import { getProjectAsMember } from '#features/catalogue/projects/lookup/project-cache.ts'
import type { ProjectView } from '#features/catalogue/projects/views.ts'
import { findOwner } from '#features/community/moderation/queries.ts'
import { listReplies, type ReplyRow } from '#features/community/moderation/replies/queries.ts'
import { listOwnerRecords, type OwnerRecord } from '#features/community/moderation/users/queries.ts'
import type { QueueRow } from '#features/community/moderation/views.ts'
import { listReportGroups, type ReportGroup } from '#features/community/reports/groups/queries.ts'
import { getVisibleReport, listReportPage, type ReportRow } from '#features/community/reports/queries.ts'
import type { ItemType } from '#features/community/reports/requests.ts'
import { listCachedUsers } from '#features/people/users/user-cache.ts'
import type { UserView } from '#features/people/users/views.ts'
import { ApiError, notFound } from '#lib/errors.ts'
import { parseId } from '#lib/ids.ts'
import { viewOf } from '#lib/text/json-bytes.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import { inLanguage } from '../replies.ts'

/** Maximum number of reports about one item that the page shows: the oldest open ones, then closed ones. */
const SHOWN_MAX = 100

export type ReportData = {
  report: ReportRow
  group: ReportGroup
  open: ReportRow[]
  closed: ReportRow[]
  replies: ReplyRow[]
  /** Usernames of the reporters by ID. */
  names: ReadonlyMap<string, string>
  /** The reported project, or that of the reported version; undefined if it was deleted. */
  project: ProjectView | undefined
  /** The reported user; undefined if they were deleted. */
  user: UserView | undefined
  /** The owner of the item; the user themselves for a reported user. */
  owner: NonNullable<QueueRow['owner']> | undefined
  record: OwnerRecord | undefined
}

/** @throws ApiError 404 if there is no such report */
export async function loadReport(request: OwnRequest): Promise<ReportData> {
  const { deps, viewer, param } = request
  const report = await getVisibleReport(deps.db, viewer, parseId(param('id'), 'id'))
  const item = { itemType: report.item_type as ItemType, itemId: report.item_id, reporterId: undefined, offset: 0 }
  const [[group], open, replies] = await Promise.all([
    listReportGroups(deps.db, { ...item, state: 'all', count: 1 }),
    listReportPage(deps.db, { ...item, state: 'open', count: SHOWN_MAX }),
    listReplies(deps.db),
  ])
  if (group === undefined) throw notFound('report')
  const closed = await listReportPage(deps.db, { ...item, state: 'closed', count: SHOWN_MAX - open.length })
  const reporters = [...new Set([...open, ...closed].map(({ reporter_id }) => reporter_id))]
  const users = await listCachedUsers(deps, reporters)
  const names = new Map(users.map(({ id, username }) => [id, username]))
  // The message goes to the reporters.
  const { language } = users.find(({ id }) => id === report.reporter_id)?.private ?? {}
  return {
    report,
    group,
    open,
    closed,
    replies: inLanguage(replies, language),
    names,
    ...(await loadItem(request, group)),
  }
}

type Item = Pick<ReportData, 'project' | 'user' | 'owner' | 'record'>

async function loadItem(request: OwnRequest, group: ReportGroup): Promise<Item> {
  const { deps } = request
  const [user, project] =
    group.item_type === 'user'
      ? [(await listCachedUsers(deps, [group.item_id])).map(viewOf)[0], undefined]
      : [undefined, await findView(request, group.item?.project_id ?? undefined)]
  const owner =
    user !== undefined
      ? { kind: 'user' as const, id: user.id, name: user.username, icon_url: null }
      : project && (await findOwner(deps.db, project.id))
  const records = await listOwnerRecords(deps.db, owner === undefined ? [] : [owner])
  return { user, project, owner, record: owner && records.get(`${owner.kind}:${owner.id}`) }
}

/** Returns the project, or undefined if it was deleted in the meantime. */
async function findView({ deps, viewer }: OwnRequest, id: string | undefined): Promise<ProjectView | undefined> {
  if (id === undefined) return undefined
  try {
    return viewOf((await getProjectAsMember(deps, viewer, id)).project)
  } catch (error) {
    if (error instanceof ApiError && error.kind === 'not_found') return undefined
    throw error
  }
}
