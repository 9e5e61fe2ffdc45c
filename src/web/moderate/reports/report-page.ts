// A report for moderators: the item, all reports about it, the conversation, and closing.
import { postMessage } from '#features/catalogue/threads/post-message.ts'
import { MessageInput, parseMessage } from '#features/catalogue/threads/requests.ts'
import { readReportChanges } from '#features/community/moderation/read-changes.ts'
import { listReplies, type ReplyRow } from '#features/community/moderation/replies/queries.ts'
import { closeReports } from '#features/community/reports/groups/close-reports.ts'
import { listReportGroups, type ReportGroup } from '#features/community/reports/groups/queries.ts'
import { checkReportsToClose, ReportsToClose } from '#features/community/reports/groups/requests.ts'
import { getVisibleReport, listReportPage, type ReportRow } from '#features/community/reports/queries.ts'
import type { ItemType } from '#features/community/reports/requests.ts'
import { updateReport } from '#features/community/reports/update-report.ts'
import { listCachedUsers } from '#features/people/users/user-cache.ts'
import { notFound } from '#lib/errors.ts'
import { parseId } from '#lib/ids.ts'
import { changedFields, changedSets, fieldName } from '#web/kit/forms/changes.ts'
import { type FormState, formPage, type Outcome, stateOf } from '#web/kit/forms/form-page.ts'
import { checkValues } from '#web/kit/forms/read-form.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS } from '#web/kit/paths.ts'
import { loadThread, threadList } from '#web/kit/thread.ts'
import { reasonName } from '#web/site/report.ts'
import { attributes, html, type Markup, type Part } from '#web/ui/html.ts'
import { icon, type PageContext, pathTo } from '#web/ui/page-context.ts'
import { optionCards } from '#web/ui/parts/choices.ts'
import { marked } from '#web/ui/parts/diff.ts'
import { checkbox, form, hiddenField, textArea } from '#web/ui/parts/fields.ts'
import { sheetHead, sheetPart } from '#web/ui/parts/frame.ts'
import { face, note } from '#web/ui/parts/lists.ts'
import { status } from '#web/ui/parts/status.ts'
import { moderatedReport, moderatedUser, showSection, takedownPath } from '../frame.ts'
import { itemLink, itemStatus, pairs, timeOf } from '../parts.ts'
import { reporters } from './report-list.ts'

/** Maximum number of reports about one item that the page shows, oldest first. */
const SHOWN_MAX = 100

type Data = {
  report: ReportRow
  group: ReportGroup
  reports: ReportRow[]
  replies: ReplyRow[]
  /** Usernames of the reporters by ID. */
  names: ReadonlyMap<string, string>
}

export function reportPage(pages: Pages): void {
  formPage<Data>(pages, {
    path: `${PATHS.moderationReports}/:id`,
    name: 'moderateReport',
    shows: 'The reported item then and now, reports about it, the thread',
    api: 'getReportChanges updateReport closeReports',
    load: loadReport,
    show: showReport,
    commands: { reply, close, insert, reopen },
    labels: { ids: 'The reports', message: 'The message', outcome: 'The outcome', body: 'The message' },
    options: { role: 'moderator' },
  })
}

async function loadReport({ deps, viewer, param }: OwnRequest): Promise<Data> {
  const report = await getVisibleReport(deps.db, viewer, parseId(param('id'), 'id'))
  const item = { state: 'all', itemType: report.item_type as ItemType, itemId: report.item_id } as const
  const [group] = await listReportGroups(deps.db, { ...item, count: 1, offset: 0 })
  const reports = await listReportPage(deps.db, { ...item, reporterId: undefined, count: SHOWN_MAX, offset: 0 })
  if (group === undefined) throw notFound('report')
  const users = await listCachedUsers(deps, [...new Set(reports.map(({ reporter_id }) => reporter_id))])
  const names = new Map(users.map(({ id, username }) => [id, username]))
  return { report, group, reports, names, replies: await listReplies(deps.db) }
}

async function reply({ deps, viewer }: OwnRequest, { report }: Data, state: FormState): Promise<Outcome> {
  const body = { type: 'text' as const, body: state.text('body'), private: state.text('private') === 'true' }
  const message = parseMessage(checkValues(MessageInput, { body }))
  await postMessage(deps, viewer, { threadId: report.thread_id, message })
  return { done: 'report-replied' }
}

async function close({ deps, viewer }: OwnRequest, _data: Data, state: FormState): Promise<Outcome> {
  const message = state.text('message')
  const input = { ids: state.list('ids'), outcome: state.text('outcome'), ...(message === '' ? {} : { message }) }
  await closeReports(deps, viewer, checkReportsToClose(checkValues(ReportsToClose, input)))
  return { done: 'reports-closed' }
}

/** Shows the page with the selected saved replies at the end of the message. */
async function insert(request: OwnRequest, data: Data, state: FormState): Promise<Outcome> {
  const message = withReplies(data.replies, state, { project: data.group.item?.name })
  return showReport(request, data, {
    ...state,
    text: (name, current) => (name === 'message' ? message : state.text(name, current)),
    list: (name, current) => (name === 'replies' ? [] : state.list(name, current)),
  })
}

async function reopen({ deps, viewer }: OwnRequest, { report }: Data): Promise<Outcome> {
  await updateReport(deps, viewer, { id: report.id, patch: { closed: false } })
  return { done: 'report-reopened' }
}

async function showReport(request: OwnRequest, data: Data, state: FormState) {
  const { page, t } = request
  const { report, group } = data
  const name = group.item?.name ?? t('reports.item.deleted', { id: group.item_id })
  return showSection(request, {
    section: PATHS.moderationReports,
    title: t('reports.page.title', { name }),
    form: state,
    body: [
      sheetHead({ title: t('reports.about-item', { count: group.reports }), action: itemActions(page, data) }),
      sheetPart({ id: 'item', title: t('reports.item'), content: itemFacts(page, group) }),
      changesPart(page, await readReportChanges(request.deps, report)),
      await reportsPart(request, data, stateOf(state, ['close', 'insert'])),
      sheetPart({
        id: 'thread',
        title: t('reports.thread'),
        content: await threadList(request, await loadThread(request, report.thread_id)),
      }),
      replyPart(page, report, stateOf(state, ['reply'])),
    ],
  })
}

function itemFacts(page: PageContext, group: ReportGroup): Markup {
  const { t } = page.language
  return pairs([
    [t('reports.item'), html`${itemLink(page, group)} ${itemStatus(page, group)}`],
    [t('reports.item-type'), t(`reports.item-type.${group.item_type}`)],
    [t('reports.first'), timeOf(page, group.first)],
    [t('reports.latest'), timeOf(page, group.latest)],
    [t('reports.reporters'), reporters(page, group)],
  ])
}

function itemActions(page: PageContext, { report, group }: Data): Part {
  if (group.item === null) return null
  const path = takedownPath(group.item_type, group.item_id, { report: report.id, reason: report.report_type })
  return html`<a class="button" href="${pathTo(page, path)}">${icon(page, 'eye-off')}${page.language.t('reports.take-action')}</a>`
}

/** Renders all reports about the item with their texts. Open reports can be selected and closed together. */
async function reportsPart(request: OwnRequest, { report, reports, replies, names }: Data, state: FormState) {
  const { page, texts, t } = request
  const picked = state.list('ids', report.closed ? [] : [report.id])
  const items: Markup[] = []
  for (const each of reports) {
    const text = await texts.render(each.body, page)
    const reporter = names.get(each.reporter_id) ?? t('work.thread.deleted-user')
    const isCurrent = each.id === report.id
    items.push(reportItem(page, each, { reporter, text, isPicked: picked.includes(each.id), isCurrent }))
  }
  const hasOpen = reports.some(({ closed }) => !closed)
  const list = html`<ol class="thread">
${items}</ol>`
  const content = hasOpen
    ? form(page, {
        action: pathTo(page, moderatedReport(report.id)),
        className: 'stack',
        content: [list, closeFields(page, replies, state)],
      })
    : list
  return sheetPart({ id: 'reports', title: t('reports.list.title'), content })
}

function reportItem(
  page: PageContext,
  report: ReportRow,
  { reporter, text, isPicked, isCurrent }: { reporter: string; text: Markup; isPicked: boolean; isCurrent: boolean },
): Markup {
  const { language } = page
  const { t } = language
  const reason = reasonName(language, report.report_type)
  const box = attributes({ type: 'checkbox', class: 'pick', name: 'ids', value: report.id, checked: isPicked })
  const pick =
    !report.closed &&
    html`<label class="choice"><input${box}><span>${t('reports.select', { id: report.id })}</span></label>`
  const name = html`<a${attributes({ href: pathTo(page, moderatedReport(report.id)), 'aria-current': isCurrent && 'true' })}>${reason}</a>`
  return html`<li id="report-${report.id}">${face({ name: reporter, url: null })}<div><p class="by"><b>${name}</b> · ${timeOf(page, report.created)} · <a href="${pathTo(page, moderatedUser(report.reporter_id))}"><bdi>${reporter}</bdi></a> ${reportStatus(page, report)}</p><div class="said">${text}</div>${pick}</div></li>
`
}

/** Renders whether a report is open, and its outcome. */
export function reportStatus(
  page: PageContext,
  { closed, outcome }: { closed: boolean; outcome: string | null },
): Markup {
  const { t } = page.language
  if (!closed) return status(page, { kind: 'wait', icon: 'wait', label: t('reports.state.open') })
  if (outcome === 'action') return status(page, { kind: 'good', icon: 'check', label: t('reports.outcome.action') })
  const label = outcome === 'no_action' ? t('reports.outcome.no_action') : t('reports.state.closed')
  return status(page, { icon: 'check', label })
}

function replyPart(page: PageContext, report: ReportRow, state: FormState): Markup {
  const { t } = page.language
  const action = pathTo(page, moderatedReport(report.id))
  const area = textArea(page, {
    name: 'body',
    label: t('reports.reply.label'),
    value: state.text('body'),
    maxLength: 65_536,
    rows: 5,
    errors: state.errors,
  })
  const isPrivate = checkbox({
    name: 'private',
    value: 'true',
    isChecked: state.text('private') === 'true',
    label: t('reports.reply.private'),
  })
  const send = html`<div class="line"><button name="do" value="reply">${icon(page, 'send')}${t('reports.reply.send')}</button></div>`
  const reply = form(page, { action, className: 'stack', content: [area, isPrivate, send] })
  const reopened =
    report.closed &&
    form(page, { action, content: html`${hiddenField('do', 'reopen')}<button>${t('reports.reopen')}</button>` })
  return sheetPart({ id: 'reply', title: t('reports.reply'), content: [reply, reopened] })
}

type Changes = Awaited<ReturnType<typeof readReportChanges>>

function changesPart(page: PageContext, changes: Changes): Markup {
  const { t } = page.language
  return sheetPart({ id: 'changes', title: t('reports.changes'), content: contentOf(page, changes) })
}

function contentOf(page: PageContext, changes: Changes): Part {
  const { t } = page.language
  if (!changes.known) return html`<p class="soft">${t('reports.changes.unknown')}</p>`
  const same = changes.texts.filter((text) => !text.changed && text.parts.length > 0)
  const [fields, sets] = [changedFields(page, changes, t('reports.changes.then')), changedSets(page, changes)]
  return [
    changes.deleted && note(page, 'warn', html`<p>${t('reports.changes.deleted')}</p>`),
    fields === null && sets === null && !changes.deleted && html`<p>${t('reports.changes.none')}</p>`,
    fields,
    sets,
    same.length > 0 &&
      html`<details class="more"><summary>${t('reports.changes.same', { count: same.length })}</summary>${same.map(({ field, parts }) => html`<p class="strong">${fieldName(page, field)}</p><p dir="auto">${parts.map(marked)}</p>`)}</details>`,
  ]
}

/** Renders the outcome, the message with saved replies, and the button. */
function closeFields(page: PageContext, replies: readonly ReplyRow[], state: FormState): Part {
  const { t } = page.language
  const chosen = state.text('outcome')
  return [
    optionCards({
      legend: t('reports.outcome'),
      name: 'outcome',
      options: (['action', 'no_action'] as const).map((value) => ({
        value,
        label: t(`reports.outcome.${value}`),
        text: t(`reports.outcome.${value}.text`),
        isChosen: chosen === value,
      })),
    }),
    repliesField(page, replies, state),
    textArea(page, {
      name: 'message',
      label: t('reports.close.message'),
      hint: t('reports.close.hint'),
      value: state.text('message'),
      maxLength: 65_536,
      rows: 4,
      isOptional: true,
      errors: state.errors,
    }),
    html`<div class="line"><button class="main" name="do" value="close">${icon(page, 'check')}${t('reports.close')}</button></div>`,
  ]
}

function repliesField(page: PageContext, replies: readonly ReplyRow[], state: FormState): Part {
  const { t } = page.language
  if (replies.length === 0) return null
  const chosen = state.list('replies')
  const boxes = replies.map(({ id, title }) =>
    checkbox({ name: 'replies', value: id, isChecked: chosen.includes(id), label: html`<bdi>${title}</bdi>` }),
  )
  return html`<fieldset class="stack close"><legend>${t('reports.texts.title')}</legend><div class="prepared">
${boxes}</div><div class="line"><button class="tight" name="do" value="insert" formnovalidate>${icon(page, 'plus')}${t('reports.texts.insert')}</button></div></fieldset>`
}

/** Returns the message with the selected replies at its end. Placeholders with a known value are replaced. */
function withReplies(
  replies: readonly ReplyRow[],
  state: FormState,
  values: Readonly<Record<string, string | undefined>>,
): string {
  const chosen = state.list('replies')
  const texts = replies
    .filter(({ id }) => chosen.includes(id))
    .map(({ body }) => body.replace(/\{(project|version|file)\}/g, (text, name: string) => values[name] ?? text))
  return [state.text('message'), ...texts].filter((text) => text !== '').join('\n\n')
}
