// The queue of projects under review: filters, claims, and rejecting several projects as spam.

import { updateProject } from '#features/catalogue/projects/edit/update-project.ts'
import { getProjectAsMember } from '#features/catalogue/projects/lookup/project-cache.ts'
import { claimNext, claimProject, releaseClaim } from '#features/community/moderation/claim-project.ts'
import { countQueue, listQueue, type QueueFilter } from '#features/community/moderation/queries.ts'
import { findUndoable, type UndoableDecision } from '#features/community/moderation/read-changes.ts'
import { recentMedianWait } from '#features/community/moderation/statistics/queries.ts'
import { listOwnerRecords, type OwnerRecord } from '#features/community/moderation/users/queries.ts'
import type { QueueRow } from '#features/community/moderation/views.ts'
import { ApiError, invalidInput, validationError } from '#lib/errors.ts'
import { isIdForm } from '#lib/ids.ts'
import { isBlank } from '#lib/text/text-rules.ts'
import { wholeNumber } from '#platform/html/format.ts'
import { form, hiddenField, textArea } from '#platform/html/forms.ts'
import { attributes, html, type Markup, type Part } from '#platform/html/html.ts'
import { messageOr } from '#platform/html/languages.ts'
import { emptyState, pager } from '#platform/html/lists.ts'
import { pathTo } from '#platform/html/page-context.ts'
import { confirmation } from '#platform/html/work/actions.ts'
import { sheetHead } from '#platform/html/work/frame.ts'
import { bulkForm } from '#platform/html/work/tables.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS, PROJECT_TYPES, reviewPath } from '#web/kit/paths.ts'
import { type FormState, formPage, type Outcome } from '#web/kit/work/form-page.ts'
import { typeName } from '../site/names.ts'
import { showModeration } from './moderation-frame.ts'
import { QUEUE_PAGE, type QueueChoice, queuePath, queueTypes, readQueueChoice, toQueueFilter } from './queue-request.ts'
import { queueTable } from './queue-view.ts'
import { undoNote } from './review/undo-note.ts'

/** Maximum number of projects that one form changes: the rows of a page. */
const PICKED_MAX = QUEUE_PAGE

type QueueData = {
  choice: QueueChoice
  filter: QueueFilter
  total: number
  rows: QueueRow[]
  records: ReadonlyMap<string, OwnerRecord>
  median: number | null
  /** The decision that led to the queue. */
  undoable: UndoableDecision | undefined
}

export function queuePages(pages: Pages): void {
  formPage<QueueData>(pages, {
    path: PATHS.moderationQueue,
    name: 'moderationQueue',
    options: { role: 'moderator' },
    load: loadQueue,
    show: showQueue,
    commands: { next: startNext, claim: claimPicked, release: releasePicked, spam: confirmSpam, reject: rejectSpam },
    labels: { message: 'The message' },
  })
}

async function loadQueue(request: OwnRequest): Promise<QueueData> {
  const { deps, viewer } = request
  const choice = readQueueChoice(request, deps.taxonomy)
  const filter = toQueueFilter(choice, deps.taxonomy)
  const page = { ...filter, sort: 'oldest', count: QUEUE_PAGE, offset: (choice.page - 1) * QUEUE_PAGE } as const
  const was = request.query('was')
  const [total, rows, median, undoable] = await Promise.all([
    countQueue(deps.db, filter, viewer.id),
    listQueue(deps.db, page, viewer.id),
    recentMedianWait(deps.db),
    isIdForm(was) ? findUndoable(deps, was) : undefined,
  ])
  const records = await listOwnerRecords(
    deps.db,
    rows.flatMap(({ owner }) => owner ?? []),
  )
  return { choice, filter, total, rows, records, median, undoable }
}

async function startNext({ deps, viewer }: OwnRequest, { choice, filter }: QueueData): Promise<Outcome> {
  const id = await claimNext(deps, viewer, filter, 'oldest')
  return id === undefined ? { done: 'no-next', path: queuePath(choice) } : { path: reviewPath(id) }
}

function pickedIds(form: FormState): string[] {
  const ids = [...new Set(form.list('ids'))]
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

async function claimPicked({ deps, viewer }: OwnRequest, { choice }: QueueData, form: FormState): Promise<Outcome> {
  const counts = await forEachPicked(pickedIds(form), (id) => claimProject(deps, viewer, id))
  return { done: 'claimed', path: queuePath(choice), with: counts }
}

async function releasePicked({ deps, viewer }: OwnRequest, { choice }: QueueData, form: FormState): Promise<Outcome> {
  const counts = await forEachPicked(pickedIds(form), (id) => releaseClaim(deps, viewer, id))
  return { done: 'released', path: queuePath(choice), with: counts }
}

/** Shows the projects that are rejected. @throws ApiError unless they belong to one owner */
async function confirmSpam(request: OwnRequest, { choice }: QueueData, form: FormState): Promise<Outcome> {
  return showSpam(request, { choice, rows: await loadPicked(request, pickedIds(form)), form })
}

/** Returns the selected projects that are still under review. @throws ApiError unless they belong to one owner */
async function loadPicked({ deps, viewer }: OwnRequest, ids: readonly string[]): Promise<QueueRow[]> {
  const page = { text: '', loaders: undefined, sort: 'oldest', count: PICKED_MAX, offset: 0, ids } as const
  const rows = await listQueue(deps.db, page, viewer.id)
  if (rows.length === 0) throw new ApiError('conflict', 'These projects are no longer under review')
  const owners = new Set(rows.map(({ owner }) => (owner === null ? '' : `${owner.kind}:${owner.id}`)))
  if (owners.size > 1 || owners.has('')) throw invalidInput('Select only projects of one owner', 'ids')
  return rows
}

function showSpam(
  request: OwnRequest,
  { choice, rows, form }: { choice: QueueChoice; rows: readonly QueueRow[]; form: FormState },
) {
  const { page } = request
  const { t, rich } = page.language
  const owner = rows[0]?.owner?.name ?? ''
  const title = t('moderate.spam.title', { count: rows.length })
  const seen = rows.map(({ id, status, last_event: event }) => [
    hiddenField('ids', id),
    hiddenField('seen', event === null ? status : `${status}.${event}`),
  ])
  const errors = form.errors
  const message = textArea(page, {
    name: 'message',
    label: t('moderate.message'),
    hint: t('moderate.spam.hint'),
    value: form.text('message'),
    maxLength: 2000,
    rows: 4,
    errors,
  })
  const body = confirmation(page, {
    title,
    consequences: [
      rich('moderate.spam.owner', { owner: html`<bdi>${owner}</bdi>` }),
      ...rows.map(({ id, name }) => html`<a href="${pathTo(page, reviewPath(id))}"><bdi>${name}</bdi></a>`),
      t('moderate.spam.notified'),
    ],
    action: pathTo(page, queuePath(choice)),
    button: t('moderate.spam.button', { count: rows.length }),
    cancel: pathTo(page, queuePath(choice)),
    fields: html`${seen}${message}`,
    command: 'reject',
    errors,
  })
  return request.show({ title, body, refusal: form.refusal })
}

async function rejectSpam(request: OwnRequest, { choice }: QueueData, form: FormState): Promise<Outcome> {
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

async function showQueue(request: OwnRequest, data: QueueData, state: FormState) {
  const { page, field } = request
  const { t } = page.language
  const { choice, total, rows, records, median } = data
  if (field('do') === 'reject' && state.refusal?.field === 'message') {
    return showSpam(request, { choice, rows: await loadPicked(request, pickedIds(state)), form: state })
  }
  const last = Math.max(1, Math.ceil(total / QUEUE_PAGE))
  const table = queueTable(request, {
    rows,
    records,
    median,
    caption: t('moderate.queue'),
    picked: state.list('ids'),
  })
  const list =
    rows.length === 0
      ? emptyQueue(request, data)
      : bulkForm(page, {
          action: pathTo(page, queuePath(choice)),
          table,
          actions: (['claim', 'release', 'spam'] as const).map((value) => ({
            value,
            label: t(`moderate.bulk.${value}`),
          })),
        })
  return showModeration(request, {
    current: PATHS.moderationQueue,
    title: t('moderate.queue'),
    form: state,
    ...(data.undoable === undefined ? {} : { notes: undoNote(page, data.undoable) }),
    notice: { count: Number(request.query('count')) || 0, failed: Number(request.query('failed')) || 0 },
    body: html`${sheetHead({ title: t('moderate.queue'), text: t('moderate.queue.text', { total }), action: startButton(request, data) })}
${filters(request, choice)}
${list}
${pager(page, { current: choice.page, last, href: (number) => pathTo(page, queuePath({ ...choice, page: number })) })}`,
  })
}

/** Renders the button that claims the oldest unassigned project and opens it. */
export function startButton({ page }: OwnRequest, { choice, total }: Pick<QueueData, 'choice' | 'total'>): Part {
  if (total === 0) return null
  const content = html`<button class="main" name="do" value="next" data-key="n">${page.language.t('moderate.start')}</button>`
  return form(page, { action: pathTo(page, queuePath(choice)), content })
}

function emptyQueue({ page }: OwnRequest, { choice }: QueueData): Markup {
  const { t } = page.language
  const isFiltered = queuePath({ ...choice, page: 1 }) !== PATHS.moderationQueue || choice.page > 1
  if (!isFiltered) return emptyState(page, { icon: 'ok', title: t('moderate.queue.empty') })
  return emptyState(page, {
    icon: 'search',
    title: t('moderate.queue.no-match'),
    action: html`<p><a class="button" href="${pathTo(page, PATHS.moderationQueue)}">${t('moderate.queue.all')}</a></p>`,
  })
}

type Select = { name: string; label: string; chosen: string; choices: readonly (readonly [string, string])[] }

function filters({ page, deps }: OwnRequest, choice: QueueChoice): Markup {
  const { t } = page.language
  const names = (key: string, values: readonly string[]) =>
    values.map((value) => [value, messageOr(page.language, `moderate.${key}.${value}`, value)] as const)
  const types = queueTypes(deps.taxonomy).map((value) => {
    const type = PROJECT_TYPES.find((one) => one === value)
    return [value, type === undefined ? t('moderate.no-type') : typeName(page.language, type)] as const
  })
  const selects: Select[] = [
    { name: 'project_type', label: t('moderate.column.type'), chosen: choice.type, choices: types },
    {
      name: 'scan',
      label: t('moderate.column.scan'),
      chosen: choice.scan,
      choices: names('scan', ['none', 'pending', 'warn', 'quarantine']),
    },
    {
      name: 'review',
      label: t('moderate.review'),
      chosen: choice.review,
      choices: names('review', ['first', 'repeat']),
    },
    {
      name: 'claim',
      label: t('moderate.column.assigned'),
      chosen: choice.claim,
      choices: names('claim', ['unassigned', 'mine', 'others']),
    },
  ]
  const option = (value: string, label: string, chosen: string) =>
    html`<option${attributes({ value, selected: value === chosen })}>${label}</option>`
  return html`<form class="filters" action="${pathTo(page, PATHS.moderationQueue)}" aria-label="${t('moderate.filters')}">
<label>${t('moderate.filter.name')}<input type="search" name="query" value="${choice.text}" maxlength="256"></label>
${selects.map(
  ({ name, label, chosen, choices }) =>
    html`<label>${label}<select name="${name}">${option('', t('moderate.any'), chosen)}${choices.map(([value, text]) => option(value, text, chosen))}</select></label>
`,
)}<button>${t('moderate.filter')}</button>
</form>`
}

/** Renders a number with its label as a figure. */
export function figure({ page }: OwnRequest, of: { label: string; value: number; path?: string }): Markup {
  const value = wholeNumber(page.language, of.value)
  return html`<div><dt>${of.label}</dt><dd class="big">${of.path === undefined ? value : html`<a href="${pathTo(page, of.path)}">${value}</a>`}</dd></div>`
}
