// The reports that the user made, with the conversation about each.

import { listVisibleProjects } from '#features/catalogue/projects/lookup/project-cache.ts'
import { postMessage } from '#features/catalogue/threads/post-message.ts'
import { MessageInput, parseMessage } from '#features/catalogue/threads/requests.ts'
import { listVisibleVersions } from '#features/catalogue/versions/lookup/version-cache.ts'
import { getVisibleReport, listReportPage, type ReportRow } from '#features/community/reports/queries.ts'
import type { ItemType } from '#features/community/reports/requests.ts'
import { listCachedUsers } from '#features/people/users/user-cache.ts'
import { notFound } from '#lib/errors.ts'
import { parseId } from '#lib/ids.ts'
import { excerptOf } from '#lib/markdown/plain-text.ts'
import { viewOf } from '#lib/text/json-bytes.ts'
import { type FormState, formPage, type Outcome } from '#web/kit/forms/form-page.ts'
import { checkValues } from '#web/kit/forms/read-form.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS, projectPath, userPath, versionPath } from '#web/kit/paths.ts'
import { loadThread, threadList } from '#web/kit/thread.ts'
import { showWork } from '#web/kit/work-page.ts'
import { reasonName } from '#web/site/report.ts'
import { exactTime, timeAgo } from '#web/ui/format.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import { icon, type PageContext, pathTo } from '#web/ui/page-context.ts'
import { formPart } from '#web/ui/parts/actions.ts'
import { textArea } from '#web/ui/parts/fields.ts'
import { sheetHead, sheetPart } from '#web/ui/parts/frame.ts'
import { emptyState } from '#web/ui/parts/lists.ts'
import { status } from '#web/ui/parts/status.ts'
import { listTable, nameCell } from '#web/ui/parts/tables.ts'
import { dashboardSections } from '../dashboard/dashboard-frame.ts'

const LIST = `${PATHS.dashboard}/reports`
/** Maximum number of reports on the page: the latest. */
const SHOWN_MAX = 256

export function ownReportPages(pages: Pages): void {
  pages.own('GET', LIST, 'ownReports', showReports, { api: 'listOpenReports' })
  formPage<ReportRow>(pages, {
    path: `${LIST}/:id`,
    name: 'ownReport',
    api: 'getReport getThread postThreadMessage',
    load: loadReport,
    show: showReport,
    commands: { send, withdraw },
    labels: { body: 'The message' },
  })
}

const crumbs = ({ language: { t } }: PageContext, isBelow = false) => [
  { path: PATHS.dashboard, label: t('reports.own.dashboard') },
  ...(isBelow ? [{ path: LIST, label: t('reports.own.title') }] : []),
]

async function showReports(request: OwnRequest) {
  const { deps, viewer, page, t } = request
  const filter = { state: 'all', reporterId: viewer.id, count: SHOWN_MAX, offset: 0 } as const
  const reports = (await listReportPage(deps.db, filter)).reverse()
  return showWork(request, {
    title: t('reports.own.title'),
    subject: { name: t('reports.own.title'), crumbs: crumbs(page) },
    sections: dashboardSections(page, LIST),
    body:
      reports.length === 0
        ? emptyState(page, { icon: 'flag', title: t('reports.own.empty'), text: t('reports.own.empty.text') })
        : reportTable(page, reports, await loadReportedItems(request, reports)),
  })
}

function reportTable(page: PageContext, reports: readonly ReportRow[], items: ReadonlyMap<string, ReportedItem>) {
  const { language } = page
  const { t } = language
  return listTable(page, {
    caption: t('reports.own.title'),
    columns: [
      { label: t('reports.item') },
      { label: t('reports.reason'), room: 'mid' },
      { label: t('reports.status') },
      { label: t('reports.time'), room: 'far' },
    ],
    rows: reports.map((report) => ({
      cells: [
        nameCell({
          href: pathTo(page, `${LIST}/${report.id}`),
          name: items.get(report.item_id)?.name ?? t('reports.own.item.hidden', { id: report.item_id }),
          details: html`${kindOf(page, report)} · <span dir="auto">${excerptOf(report.body, 120)}</span>`,
          near: timeAgo(language, report.created, page.now),
          least: [reasonName(language, report.report_type)],
        }),
        reasonName(language, report.report_type),
        statusLabel(page, report),
        timeAgo(language, report.created, page.now),
      ],
    })),
  })
}

function statusLabel(page: PageContext, { closed, outcome }: ReportRow): Markup {
  const { t } = page.language
  if (!closed) return status(page, { kind: 'wait', icon: 'wait', label: t('reports.state.open') })
  const label = outcome === null ? t('reports.state.closed') : t(`reports.own.${outcome}`)
  return status(page, { ...(outcome === 'action' ? { kind: 'good' as const } : {}), icon: 'check', label })
}

/** @throws ApiError 404 for the reports of others, also for moderators: they have their own page */
async function loadReport({ deps, viewer, param }: OwnRequest): Promise<ReportRow> {
  const report = await getVisibleReport(deps.db, viewer, parseId(param('id'), 'id'))
  if (report.reporter_id !== viewer.id) throw notFound('report')
  return report
}

async function send(request: OwnRequest, report: ReportRow, state: FormState): Promise<Outcome> {
  return post(request, report, state.text('body'))
}

/** Only moderators close reports, so the user tells them that the report is no longer needed. */
async function withdraw(request: OwnRequest, report: ReportRow): Promise<Outcome> {
  return post(request, report, request.page.language.t('reports.own.withdraw.message'))
}

async function post({ deps, viewer }: OwnRequest, report: ReportRow, text: string): Promise<Outcome> {
  const message = parseMessage(checkValues(MessageInput, { body: { type: 'text', body: text } }))
  await postMessage(deps, viewer, { threadId: report.thread_id, message })
  return { done: 'report-replied' }
}

async function showReport(request: OwnRequest, report: ReportRow, state: FormState) {
  const { page, texts, language, t } = request
  const name = reasonName(language, report.report_type)
  const item = (await loadReportedItems(request, [report])).get(report.item_id)
  return showWork(request, {
    title: t('reports.own.report', { reason: name }),
    subject: {
      name: t('reports.own.report', { reason: name }),
      crumbs: crumbs(page, true),
      facts: [reportedLink(page, report, item), statusLabel(page, report), exactTime(language, report.created)],
    },
    sections: dashboardSections(page, LIST),
    form: state,
    body: [
      sheetHead({ title: t('reports.own.text') }),
      sheetPart({ id: 'text', content: await texts.render(report.body, page) }),
      sheetPart({
        id: 'thread',
        title: t('reports.thread'),
        content: await threadList(request, await loadThread(request, report.thread_id)),
      }),
      replyPart(page, report, state),
    ],
  })
}

function replyPart(page: PageContext, report: ReportRow, state: FormState): Part {
  const { t } = page.language
  if (report.closed && !state.isSubmitted) return html`<p class="part soft">${t('reports.own.closed')}</p>`
  const content = html`${textArea(page, { name: 'body', label: t('reports.own.message'), value: state.text('body'), maxLength: 65_536, rows: 5, errors: state.errors })}
<div class="line"><button class="main" name="do" value="send">${icon(page, 'send')}${t('reports.reply.send')}</button><button class="plain" name="do" value="withdraw" formnovalidate>${t('reports.own.withdraw')}</button></div>`
  return formPart(page, { id: 'reply', title: t('reports.reply'), path: `${LIST}/${report.id}`, content })
}

type ReportedItem = { name: string; path: string }

/** Returns the reported items that the viewer can see, by their ID. Runs a constant number of statements. */
async function loadReportedItems(
  { deps, viewer }: OwnRequest,
  reports: readonly ReportRow[],
): Promise<ReadonlyMap<string, ReportedItem>> {
  const idsOf = (type: ItemType) => [
    ...new Set(reports.flatMap((report) => (report.item_type === type ? [report.item_id] : []))),
  ]
  const versions = (await listVisibleVersions(deps, viewer, idsOf('version'))).map(viewOf)
  const ids = [...new Set([...idsOf('project'), ...versions.map(({ project_id }) => project_id)])]
  const projects = new Map((await listVisibleProjects(deps, viewer, ids)).map(viewOf).map((view) => [view.id, view]))
  const items = new Map<string, ReportedItem>()
  for (const [id, view] of projects) items.set(id, { name: view.name, path: projectPath(view) })
  for (const version of versions) {
    const view = projects.get(version.project_id)
    if (view === undefined) continue
    const name = `${view.name} ${version.version_number}`
    items.set(version.id, { name, path: versionPath(projectPath(view), version) })
  }
  for (const { id, username } of await listCachedUsers(deps, idsOf('user')))
    items.set(id, { name: username, path: userPath(username) })
  return items
}

/** Returns the kind of the reported item: a project, a version or a user. */
function kindOf({ language: { t } }: PageContext, { item_type }: ReportRow): string {
  return t(`reports.item-type.${item_type as ItemType}`)
}

/** Renders the kind of the reported item and a link to it, or its ID if the reporter cannot see it. */
function reportedLink(page: PageContext, report: ReportRow, item: ReportedItem | undefined): Markup {
  const { t } = page.language
  const shown =
    item === undefined
      ? t('reports.own.item.hidden', { id: report.item_id })
      : html`<a href="${pathTo(page, item.path)}"><bdi>${item.name}</bdi></a>`
  return html`<span>${kindOf(page, report)}: ${shown}</span>`
}
