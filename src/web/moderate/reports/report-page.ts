// A report for moderators: the item with its owner, all reports about it, the actions, the conversation, and closing.
import { postMessage } from '#features/catalogue/threads/post-message.ts'
import { MessageInput, parseMessage } from '#features/catalogue/threads/requests.ts'
import { readReportChanges } from '#features/community/moderation/read-changes.ts'
import { claimNextReport, claimReport, releaseReport } from '#features/community/reports/groups/claim-report.ts'
import { closeReports } from '#features/community/reports/groups/close-reports.ts'
import { checkReportsToClose, ReportsToClose } from '#features/community/reports/groups/requests.ts'
import type { ReportRow } from '#features/community/reports/queries.ts'
import { updateReport } from '#features/community/reports/update-report.ts'
import { isIdForm } from '#lib/ids.ts'
import { changedFields, changedSets, fieldName } from '#web/kit/forms/changes.ts'
import { type FormState, formPage, type Outcome, stateOf } from '#web/kit/forms/form-page.ts'
import { checkValues, refusedField } from '#web/kit/forms/read-form.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS } from '#web/kit/paths.ts'
import { loadThread, threadList } from '#web/kit/thread.ts'
import { showWork } from '#web/kit/work-page.ts'
import { reasonName } from '#web/site/report.ts'
import { attributes, html, type Markup, type Part } from '#web/ui/html.ts'
import { icon, type PageContext, pathTo } from '#web/ui/page-context.ts'
import { marked } from '#web/ui/parts/diff.ts'
import { checkbox, form, hiddenField, textArea } from '#web/ui/parts/fields.ts'
import { face, note } from '#web/ui/parts/lists.ts'
import { status } from '#web/ui/parts/status.ts'
import { claimBar } from '../claim-bar.ts'
import { moderatedReport, moderatedUser, takedownResult } from '../frame.ts'
import { itemStatus, timeOf } from '../parts.ts'
import { withReplies } from '../replies.ts'
import { section } from '../review/section.ts'
import { CLOSE_FORM, closeForm } from './close-form.ts'
import { actionsPart, askToSuspend, hideItem, suspendOwner, tellOwner } from './item-actions.ts'
import { itemPart, itemTool } from './item-view.ts'
import { loadReport, type ReportData } from './load-report.ts'

export function reportPage(pages: Pages): void {
  formPage<ReportData>(pages, {
    path: `${PATHS.moderationReports}/:id`,
    name: 'moderateReport',
    shows: 'The reported item then and now, its owner, reports about it, the thread',
    api: 'getReportChanges updateReport closeReports claimReport releaseReport',
    load: loadReport,
    show: showReport,
    commands: {
      reply,
      close,
      next: closeAndNext,
      skip,
      insert,
      reopen,
      claim,
      release,
      hide: hideItem,
      tell: tellOwner,
      suspend: suspendOwner,
      ask: askToSuspend,
    },
    labels: {
      ...{
        ids: 'The reports',
        message: 'The message',
        outcome: 'The outcome',
        body: 'The message',
        text: 'The message',
      },
      ...{ notice: 'The message', request: 'The message', reason: 'The reason', days: 'The number of days' },
      ...{ visibility: 'The visibility', password: 'The password', code: 'The code' },
    },
    options: { role: 'moderator' },
  })
}

async function reply({ deps, viewer }: OwnRequest, { report }: ReportData, state: FormState): Promise<Outcome> {
  const body = { type: 'text' as const, body: state.text('body'), private: state.text('private') === 'true' }
  const message = parseMessage(checkValues(MessageInput, { body }))
  await postMessage(deps, viewer, { threadId: report.thread_id, message })
  return { done: 'report-replied' }
}

async function close({ deps, viewer, t }: OwnRequest, _data: ReportData, state: FormState): Promise<Outcome> {
  const message = state.text('message')
  const outcome = state.text('outcome')
  if (outcome !== 'action' && outcome !== 'no_action') {
    const names = { action: t('reports.outcome.action'), none: t('reports.outcome.no_action') }
    throw refusedField('outcome', t('reports.outcome.missing', names))
  }
  const input = { ids: state.list('ids'), outcome, ...(message === '' ? {} : { message }) }
  await closeReports(deps, viewer, checkReportsToClose(checkValues(ReportsToClose, input)))
  return { done: 'reports-closed' }
}

/** Closes the selected reports, and opens the next item. */
async function closeAndNext(request: OwnRequest, data: ReportData, state: FormState): Promise<Outcome> {
  await close(request, data, state)
  return { ...(await skip(request)), done: 'reports-closed' }
}

/** Claims the unclaimed item with the oldest report, and opens it. */
async function skip({ deps, viewer }: OwnRequest): Promise<{ done?: 'no-next-report'; path: string }> {
  const id = await claimNextReport(deps, viewer, {})
  return id === undefined ? { done: 'no-next-report', path: PATHS.moderationReports } : { path: moderatedReport(id) }
}

async function claim({ deps, viewer }: OwnRequest, { report }: ReportData): Promise<Outcome> {
  await claimReport(deps, viewer, report.id)
  return { done: 'report-claimed' }
}

async function release({ deps, viewer }: OwnRequest, { report }: ReportData): Promise<Outcome> {
  await releaseReport(deps, viewer, report.id)
  return { done: 'report-released' }
}

/** Shows the page with the selected saved replies at the end of the message. */
async function insert(request: OwnRequest, data: ReportData, state: FormState): Promise<Outcome> {
  const subject = data.project === undefined ? {} : { project: data.project }
  const message = withReplies(request.page, data.replies, { state, subject })
  return showReport(request, data, {
    ...state,
    text: (name, current) => (name === 'message' ? message : state.text(name, current)),
    list: (name, current) => (name === 'replies' ? [] : state.list(name, current)),
  })
}

async function reopen({ deps, viewer }: OwnRequest, { report }: ReportData): Promise<Outcome> {
  await updateReport(deps, viewer, { id: report.id, patch: { closed: false } })
  return { done: 'report-reopened' }
}

async function showReport(request: OwnRequest, data: ReportData, state: FormState) {
  const { page, t } = request
  const { report, group } = data
  const name = group.item?.name ?? t('reports.item.deleted', { id: group.item_id })
  const closing = stateOf(state, ['close', 'next', 'insert'])
  const path = moderatedReport(report.id)
  const body = html`<div class="split decision"><div class="body flush">
${itemPart(page, data)}
${await actionsPart(request, data, state)}
${await reportsPart(request, data, closing)}
${changesPart(page, await readReportChanges(request.deps, report))}
${section({ id: 'thread', title: t('reports.thread'), content: await threadList(request, await loadThread(request, report.thread_id)) })}
${replyPart(page, report, stateOf(state, ['reply']))}
</div>
<aside id="decide" aria-label="${t('reports.outcome')}">${closeForm(page, data, closing)}</aside></div>
<p class="to-foot"><a class="button main" href="#decide">${t('reports.to-close')}</a></p>`
  return showWork(request, {
    title: t('reports.page.title', { name }),
    subject: {
      name,
      crumbs: [
        { path: PATHS.moderation, label: t('moderate.moderation') },
        { path: PATHS.moderationReports, label: t('reports.list.title') },
      ],
      facts: [itemStatus(page, group), t('reports.about-item', { count: group.reports })],
      tools: html`${itemTool(page, data)}${nextButton(page, path)}`,
    },
    form: state,
    above: group.open > 0 ? claimBar(request, { path, claim: group.claim, kind: 'report' }) : null,
    notes: takedownNote(request),
    body,
  })
}

function nextButton(page: PageContext, path: string): Markup {
  const button = html`<button name="do" value="skip" data-key="n">${page.language.t('reports.next')}</button>`
  return form(page, { action: pathTo(page, path), content: button })
}

/** Leads to the takedown that was made on this page, where it can be undone. */
function takedownNote({ page, query, language }: OwnRequest): Part {
  const id = query('takedown')
  if (!isIdForm(id)) return null
  const link = (text: Part) => html`<a href="${pathTo(page, takedownResult(id))}">${text}</a>`
  return note(page, 'warn', html`<p>${language.rich('reports.hide.done', { link })}</p>`)
}

/** Renders all reports about the item with their texts. The open ones are selected, and closed together. */
async function reportsPart(request: OwnRequest, data: ReportData, state: FormState): Promise<Markup> {
  const { page, texts, t } = request
  const { report, open, closed, names } = data
  const picked = state.list(
    'ids',
    open.map(({ id }) => id),
  )
  const list = async (reports: readonly ReportRow[]): Promise<Part> => {
    const items: Markup[] = []
    for (const each of reports) {
      const text = await texts.render(each.body, page)
      const reporter = names.get(each.reporter_id) ?? t('work.thread.deleted-user')
      const isCurrent = each.id === report.id
      items.push(reportItem(page, each, { reporter, text, isPicked: picked.includes(each.id), isCurrent }))
    }
    return (
      items.length > 0 &&
      html`<ol class="thread">
${items}</ol>`
    )
  }
  const others =
    closed.length > 0 &&
    html`<details class="more"${open.length === 0 && html` open`}><summary>${t('reports.closed-count', { count: closed.length })}</summary>${await list(closed)}</details>`
  return section({ id: 'reports', title: t('reports.list.title'), content: html`${await list(open)}${others}` })
}

function reportItem(
  page: PageContext,
  report: ReportRow,
  { reporter, text, isPicked, isCurrent }: { reporter: string; text: Markup; isPicked: boolean; isCurrent: boolean },
): Markup {
  const { language } = page
  const { t } = language
  const reason = reasonName(language, report.report_type)
  const box = attributes({
    type: 'checkbox',
    class: 'pick',
    name: 'ids',
    value: report.id,
    checked: isPicked,
    form: CLOSE_FORM,
  })
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
    hint: t('reports.reply.hint'),
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
  return section({ id: 'reply', title: t('reports.reply'), content: [reply, reopened] })
}

type Changes = Awaited<ReturnType<typeof readReportChanges>>

function changesPart(page: PageContext, changes: Changes): Markup {
  const { t } = page.language
  return section({ id: 'changes', title: t('reports.changes'), content: contentOf(page, changes) })
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
