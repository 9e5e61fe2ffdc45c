// Background jobs: list by state and type, retry and discard.

import { actorOf } from '#features/basics/audit/actor.ts'
import { discardJobs } from '#features/operation/overview/background-jobs/discard-jobs.ts'
import { getJob, loadJobs } from '#features/operation/overview/background-jobs/queries.ts'
import { parseJobId } from '#features/operation/overview/background-jobs/requests.ts'
import { type ChosenJobs, filterOf, retryJobs } from '#features/operation/overview/background-jobs/retry-jobs.ts'
import type { JobsPage, JobView } from '#features/operation/overview/background-jobs/views.ts'
import { notFound } from '#lib/errors.ts'
import { countJobs, JOB_STATES, type JobState } from '#platform/jobs/queue-state.ts'
import { showConfirmation } from '#web/kit/forms/confirm.ts'
import { type FormState, formPage, type Outcome } from '#web/kit/forms/form-page.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { pageNumber, withQuery } from '#web/kit/paths.ts'
import { timeAgo } from '#web/ui/format.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import type { IconName } from '#web/ui/icons.ts'
import { icon, type PageContext, pathTo } from '#web/ui/page-context.ts'
import { buttonForm } from '#web/ui/parts/fields.ts'
import { sheetHead } from '#web/ui/parts/frame.ts'
import { emptyState, pager, segments } from '#web/ui/parts/lists.ts'
import { status } from '#web/ui/parts/status.ts'
import { listTable, nameCell } from '#web/ui/parts/tables.ts'
import { showOperator } from '../sections.ts'
import { taskName, taskTable } from './jobs-table.ts'

const PATH = '/operator/jobs'
const CONFIRM = '/operator/jobs/confirm'
const ROWS = 50
/** Operators repair the queue also while the instance is read-only, as in the API. */
const REPAIR = { role: 'admin', whenReadOnly: 'answers' } as const

type Listed = JobsPage & { state: JobState | undefined; task: string; current: number }

export function jobPages(pages: Pages): void {
  formPage<Listed>(pages, {
    path: PATH,
    name: 'operateJobs',
    api: 'listJobs retryJob',
    options: REPAIR,
    load: loadListed,
    show: showJobs,
    commands: { retry: retryOne },
  })
  formPage<Chosen>(pages, {
    path: CONFIRM,
    name: 'operateJobsConfirm',
    shows: 'Retrying or discarding failed jobs',
    api: 'retryJobs discardJobs',
    options: REPAIR,
    load: loadChosen,
    show: showChosen,
    commands: { confirm: runChosen },
  })
}

async function loadListed(request: OwnRequest): Promise<Listed> {
  const { deps, query } = request
  const state = JOB_STATES.find((name) => name === query('state'))
  const task = query('task')
  const current = pageNumber(request)
  const filter = { state, tasks: task === '' ? undefined : [task] }
  return { ...(await loadJobs(deps.db, filter, { limit: ROWS, offset: (current - 1) * ROWS })), state, task, current }
}

async function retryOne({ deps, viewer, field }: OwnRequest, { state, task }: Listed): Promise<Outcome> {
  await retryJobs(deps, actorOf(viewer), { id: parseJobId(field('id')) })
  return { done: 'job-retried', with: { state: state ?? '', task } }
}

function showJobs(request: OwnRequest, data: Listed, form: FormState) {
  const { page, t } = request
  const { state, task, total, current } = data
  const href = (change: { state?: string | undefined; page?: string }) =>
    pathTo(page, withQuery(PATH, { task, state, ...change }))
  const filters = segments(t('operate.jobs.state'), [
    { href: href({ state: undefined }), label: t('operate.state.all'), isCurrent: state === undefined },
    ...JOB_STATES.map((name) => ({
      href: href({ state: name }),
      label: t(`operate.state.${name}`),
      isCurrent: state === name,
    })),
  ])
  const title = task === '' ? t('operate.jobs.list') : taskName(page.language, task)
  const reset =
    task !== '' && html` <a href="${pathTo(page, withQuery(PATH, { state }))}">${t('operate.jobs.every-type')}</a>`
  return showOperator(request, {
    section: PATH,
    heading: t('operate.jobs'),
    text: t('operate.jobs.text'),
    form,
    notice: { count: Number(request.query('count')) || 0 },
    body: html`${taskTable(page, data.tasks, { title: t('operate.jobs.by-type') })}
${sheetHead({ title, isRuled: true, action: filters, ...(task === '' ? {} : { text: html`<code>${task}</code>${reset}` }) })}
${data.jobs.length === 0 ? emptyState(page, { icon: 'pulse', title: t('operate.jobs.none-match') }) : jobTable(page, data.jobs, href({}))}
${pager(page, { current, last: Math.ceil(total / ROWS), href: (number) => href({ page: String(number) }) })}`,
  })
}

const STATES: Record<JobState, readonly [IconName, 'good' | 'wait' | 'bad' | undefined]> = {
  due: ['wait', undefined],
  scheduled: ['calendar', undefined],
  running: ['refresh', 'good'],
  retrying: ['wait', 'wait'],
  failed: ['alert', 'bad'],
}

function jobTable(page: PageContext, jobs: readonly JobView[], action: string): Markup {
  const { language } = page
  const { t } = language
  return listTable(page, {
    caption: t('operate.jobs.list'),
    columns: [
      { label: t('operate.jobs.type') },
      { label: t('operate.jobs.state'), isNumber: true },
      { label: t('operate.jobs.changed'), room: 'mid' },
      { label: t('operate.jobs.attempts'), isNumber: true, room: 'far' },
      { label: t('operate.actions'), isAction: true },
    ],
    rows: jobs.map((job) => {
      const [symbol, kind] = STATES[job.state]
      const changed = timeAgo(language, new Date(job.updated), page.now)
      const attempts = t('operate.jobs.attempts-of', { count: job.attempts, max: job.max_attempts })
      return {
        id: `job-${job.id}`,
        cells: [
          nameCell({
            name: taskName(language, job.task),
            details: job.error !== null && html`<span lang="en" dir="auto">${job.error}</span>`,
            near: attempts,
            least: [changed],
          }),
          status(page, { kind, icon: symbol, label: t(`operate.state.${job.state}`) }),
          changed,
          attempts,
          actionsOf(page, job, action),
        ],
      }
    }),
  })
}

function actionsOf(page: PageContext, { id, state, task }: JobView, action: string): Part {
  if (state !== 'failed' && state !== 'retrying') return null
  const { language } = page
  const { t } = language
  const discard = withQuery(CONFIRM, { action: 'discard', id })
  const name = html`<span class="vh"> ${taskName(language, task)} ${id}</span>`
  const retry = buttonForm(page, {
    action,
    text: html`${icon(page, 'refresh')}<span class="words">${t('operate.retry')}${name}</span>`,
    isTight: true,
    fields: { do: 'retry', id },
  })
  return html`<div class="line end">${retry}<a class="button tight" href="${pathTo(page, discard)}">${icon(page, 'trash')}<span class="words">${t('operate.discard')}${name}</span></a></div>`
}

type Chosen = { action: 'retry' | 'discard'; chosen: ChosenJobs; count: number; task: string }

/** @throws ApiError 404 without a job, or for an unknown action */
async function loadChosen({ deps, query }: OwnRequest): Promise<Chosen> {
  const action = (['retry', 'discard'] as const).find((name) => name === query('action'))
  if (action === undefined) throw notFound('page')
  const id = query('id')
  if (id !== '') {
    const { task } = await getJob(deps.db, parseJobId(id))
    return { action, chosen: { id }, count: 1, task }
  }
  const task = query('task')
  if (task === '') throw notFound('page')
  return { action, chosen: { task }, count: await countJobs(deps.db, filterOf({ task })), task }
}

function showChosen(request: OwnRequest, { action, chosen, count, task }: Chosen, form: FormState) {
  const { language } = request.page
  const { t } = language
  const question = {
    title: t(`operate.${action}.title`, { count }),
    consequences: [
      html`${taskName(language, task)} (<code>${task}</code>)`,
      t(`operate.${action}.consequence`),
      t('operate.recorded'),
    ],
    path: withQuery(CONFIRM, { action, ...chosen }),
    button: t(`operate.${action}.button`, { count }),
    cancel: withQuery(PATH, { state: 'failed' }),
    isDanger: action === 'discard',
  }
  return showConfirmation(request, question, form)
}

async function runChosen({ deps, viewer }: OwnRequest, { action, chosen }: Chosen): Promise<Outcome> {
  const run = action === 'retry' ? retryJobs : discardJobs
  const count = await run(deps, actorOf(viewer), chosen)
  const done = action === 'retry' ? 'jobs-retried' : 'jobs-discarded'
  return { done, path: PATH, with: { count: String(count) } }
}
