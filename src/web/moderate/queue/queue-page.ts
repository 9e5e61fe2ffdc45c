// The queue of projects under review: filters, claims, bulk actions and shortcuts.

import type { FastifyReply } from 'fastify'
import { ProjectPatch } from '#features/catalogue/projects/edit/requests.ts'
import { updateProject } from '#features/catalogue/projects/edit/update-project.ts'
import { getProjectAsMember } from '#features/catalogue/projects/lookup/project-cache.ts'
import { claimNext, claimProject, releaseClaim } from '#features/community/moderation/claim-project.ts'
import {
  CLAIM_FILTERS,
  countQueue,
  listQueue,
  type ModerationCounts,
  QUEUE_ORDERS,
  type QueueFilter,
  REVIEW_FILTERS,
  readModerationCounts,
  SCAN_FILTERS,
} from '#features/community/moderation/queries.ts'
import { findUndoable, type UndoableDecision } from '#features/community/moderation/read-changes.ts'
import { recentMedianWait } from '#features/community/moderation/statistics/queries.ts'
import { listOwnerRecords, type OwnerRecord } from '#features/community/moderation/users/queries.ts'
import type { QueueRow } from '#features/community/moderation/views.ts'
import { ApiError, invalidInput, validationError } from '#lib/errors.ts'
import { isIdForm } from '#lib/ids.ts'
import { isBlank } from '#lib/text/text-rules.ts'
import { showConfirmation } from '#web/kit/forms/confirm.ts'
import { limitsOf } from '#web/kit/forms/fields.ts'
import { type FormState, formPage, type Outcome } from '#web/kit/forms/form-page.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS, PROJECT_TYPES, reviewPath } from '#web/kit/paths.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import { messageOr } from '#web/ui/languages.ts'
import { type PageContext, pathTo } from '#web/ui/page-context.ts'
import { form, hiddenField, textArea } from '#web/ui/parts/fields.ts'
import { sheetHead } from '#web/ui/parts/frame.ts'
import { shortcuts } from '#web/ui/parts/keys.ts'
import { emptyState, pager } from '#web/ui/parts/lists.ts'
import { bulkForm } from '#web/ui/parts/tables.ts'
import { typeName } from '../../site/names.ts'
import { showModeration } from '../moderation-frame.ts'
import { filterForm } from '../parts.ts'
import { undoNote } from '../review/undo-note.ts'
import { QUEUE_PAGE, type QueueChoice, queuePath, queueTypes, readQueueChoice, toQueueFilter } from './queue-request.ts'
import { queueTable, rowId } from './queue-table.ts'

type QueueData = {
  choice: QueueChoice
  filter: QueueFilter
  total: number
  rows: QueueRow[]
  records: ReadonlyMap<string, OwnerRecord>
  median: number | null
  counts: ModerationCounts
  /** The decision that led to the queue. */
  undoable: UndoableDecision | undefined
}

export function queuePages(pages: Pages): void {
  formPage<QueueData>(pages, {
    path: PATHS.moderationQueue,
    name: 'moderationQueue',
    api: 'listModerationQueue claimProject releaseClaim claimNextProject',
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
  const page = { ...filter, sort: choice.sort, count: QUEUE_PAGE, offset: (choice.page - 1) * QUEUE_PAGE }
  const was = request.query('was')
  const [total, rows, median, counts, undoable] = await Promise.all([
    countQueue(deps.db, filter, viewer.id),
    listQueue(deps.db, page, viewer.id),
    recentMedianWait(deps.db),
    readModerationCounts(deps.db, viewer.id),
    isIdForm(was) ? findUndoable(deps, was) : undefined,
  ])
  const records = await listOwnerRecords(
    deps.db,
    rows.flatMap(({ owner }) => owner ?? []),
  )
  return { choice, filter, total, rows, records, median, counts, undoable }
}

async function startNext({ deps, viewer }: OwnRequest, { choice, filter }: QueueData): Promise<Outcome> {
  const id = await claimNext(deps, viewer, filter, choice.sort)
  return id === undefined ? { done: 'no-next', path: queuePath(choice) } : { path: reviewPath(id) }
}

async function showQueue(request: OwnRequest, data: QueueData, state: FormState) {
  const { page, field, t } = request
  const { choice, total, rows, records, median } = data
  if (field('do') === 'reject' && state.refusal?.field === 'message') return confirmSpam(request, data, state)
  const last = Math.max(1, Math.ceil(total / QUEUE_PAGE))
  const table = queueTable(request, {
    rows,
    records,
    median,
    caption: t('moderate.queue'),
    picked: state.list('ids'),
    claims: CLAIM_FORM,
  })
  const list =
    rows.length === 0
      ? noRows(request, data)
      : bulkForm(page, {
          action: pathTo(page, queuePath(choice)),
          table,
          actions: (['claim', 'release', 'spam'] as const)
            .filter((value) => value !== 'spam' || rows.some(({ appeal }) => appeal === null))
            .map((value) => ({ value, label: t(`moderate.bulk.${value}`) })),
        })
  return showModeration(request, {
    current: PATHS.moderationQueue,
    counts: data.counts,
    title: t('moderate.queue'),
    form: state,
    ...(data.undoable === undefined ? {} : { notes: undoNote(page, data.undoable) }),
    notice: { count: Number(request.query('count')) || 0, failed: Number(request.query('failed')) || 0 },
    body: html`${sheetHead({ title: t('moderate.queue'), text: t('moderate.queue.text', { total }), action: startButton(request, data) })}
${filters(request, choice)}
${list}
${form(page, { id: CLAIM_FORM, action: pathTo(page, queuePath(choice)), content: '' })}
${rows.length > 0 && queueKeys(page)}
${pager(page, { current: choice.page, last, href: (number) => pathTo(page, queuePath({ ...choice, page: number })) })}`,
  })
}

/** ID of the form that the buttons of the rows send: forms cannot be inside the form of the bulk actions. */
const CLAIM_FORM = 'claims'

function queueKeys(page: PageContext): Markup {
  const { t } = page.language
  const keys = [
    { keys: ['J', 'K'], label: t('moderate.key.rows') },
    { keys: ['Enter'], label: t('moderate.key.open') },
    { keys: ['X'], label: t('moderate.key.select') },
    { keys: ['T'], label: t('moderate.key.claim') },
    { keys: ['N'], label: t('moderate.key.start') },
  ]
  return html`<div class="part">${shortcuts(page, keys)}</div>`
}

/** Renders the button that claims the first unassigned project in the order of the page, and opens it. */
export function startButton({ page }: OwnRequest, { choice, total }: Pick<QueueData, 'choice' | 'total'>): Part {
  if (total === 0) return null
  const content = html`<button class="main" name="do" value="next" data-key="n">${page.language.t(`moderate.start.${choice.sort}`)}</button>`
  return form(page, { action: pathTo(page, queuePath(choice)), content })
}

/** Renders that the queue is empty, and what to do next. */
export function emptyQueue(page: PageContext, { reports, quarantined }: ModerationCounts): Markup {
  const { t } = page.language
  const link = (path: string) => (text: Part) => html`<a href="${pathTo(page, path)}">${text}</a>`
  return emptyState(page, {
    icon: 'ok',
    title: t('moderate.queue.empty'),
    text: page.language.rich('moderate.queue.empty.next', {
      reports,
      quarantined,
      toReports: link(PATHS.moderationReports),
      toScans: link(PATHS.moderationScans),
    }),
  })
}

function noRows({ page }: OwnRequest, { choice, counts }: QueueData): Markup {
  const { t } = page.language
  const isFiltered = queuePath({ ...choice, sort: 'oldest', page: 1 }) !== PATHS.moderationQueue || choice.page > 1
  if (!isFiltered) return emptyQueue(page, counts)
  return emptyState(page, {
    icon: 'search',
    title: t('moderate.queue.no-match'),
    action: html`<p><a class="button" href="${pathTo(page, PATHS.moderationQueue)}">${t('moderate.queue.all')}</a></p>`,
  })
}

function filters({ page, deps, t }: OwnRequest, choice: QueueChoice): Markup {
  const named = (key: string, values: readonly string[]) =>
    values.map((value) => ({ value, label: messageOr(page.language, `moderate.${key}.${value}`, value) }))
  const types = queueTypes(deps.taxonomy).map((value) => {
    const type = PROJECT_TYPES.find((one) => one === value)
    return { value, label: type === undefined ? t('moderate.no-type') : typeName(page.language, type) }
  })
  return filterForm(page, {
    search: { name: 'query', label: t('moderate.filter.name'), value: choice.text },
    selects: [
      { name: 'project_type', label: t('moderate.column.type'), value: choice.type, choices: types },
      { name: 'scan', label: t('moderate.column.scan'), value: choice.scan, choices: named('scan', SCAN_FILTERS) },
      {
        name: 'review',
        label: t('moderate.review'),
        value: choice.review,
        choices: named('filter.review', REVIEW_FILTERS),
      },
      {
        name: 'claim',
        label: t('moderate.column.assigned'),
        value: choice.claim,
        choices: named('claim', CLAIM_FILTERS),
      },
      {
        name: 'sort',
        label: t('moderate.sort'),
        value: choice.sort,
        choices: named('sort', QUEUE_ORDERS),
        hasAny: false,
      },
    ],
  })
}

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

async function claimPicked({ deps, viewer }: OwnRequest, { choice }: Queue, form: FormState): Promise<Outcome> {
  const counts = await forEachPicked(pickedIds(form), (id) => claimProject(deps, viewer, id))
  return { done: 'claimed', path: queuePath(choice), with: counts, ...rowOf(form) }
}

async function releasePicked({ deps, viewer }: OwnRequest, { choice }: Queue, form: FormState): Promise<Outcome> {
  const counts = await forEachPicked(pickedIds(form), (id) => releaseClaim(deps, viewer, id))
  return { done: 'released', path: queuePath(choice), with: counts, ...rowOf(form) }
}

/** Leads back to the row of the pressed button, so that the keyboard continues there. */
const rowOf = ({ argument }: FormState) => (argument === '' ? {} : { fragment: rowId(argument) })

/**
 * Returns the selected projects that are still under review, without appeals.
 * @throws ApiError `conflict` if no selected project can be rejected here
 */
async function loadPicked({ deps, viewer }: OwnRequest, ids: readonly string[]): Promise<QueueRow[]> {
  const page = { text: '', loaders: undefined, sort: 'oldest', count: PICKED_MAX, offset: 0, ids } as const
  const queued = await listQueue(deps.db, page, viewer.id)
  const rows = queued.filter(({ appeal }) => appeal === null)
  if (queued.length > 0 && rows.length === 0)
    throw new ApiError('conflict', 'An appeal is decided on the page of its project. Open the project to decide.')
  if (rows.length === 0) throw new ApiError('conflict', 'These projects are no longer under review')
  return rows
}

/** Shows the projects that are rejected with the same message, and their owners. */
async function confirmSpam(request: OwnRequest, { choice }: Queue, form: FormState): Promise<FastifyReply> {
  const { page, t, rich } = request
  const rows = await loadPicked(request, pickedIds(form))
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
      ...rows.map(({ id, name, owner }) =>
        rich('moderate.spam.project', {
          project: html`<a href="${pathTo(page, reviewPath(id))}"><bdi>${name}</bdi></a>`,
          owner: owner === null ? t('moderate.no-owner') : html`<bdi>${owner.name}</bdi>`,
        }),
      ),
      t('moderate.spam.notified'),
    ],
    path: queuePath(choice),
    button: t('moderate.spam.button', { count: rows.length }),
    fields: html`${seen}${message}`,
    command: 'reject',
  }
  return showConfirmation(request, question, form)
}

async function rejectSpam(request: OwnRequest, { choice }: Queue, form: FormState): Promise<Outcome> {
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
