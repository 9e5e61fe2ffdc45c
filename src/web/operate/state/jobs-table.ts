// Background jobs by type.
import type { TaskCounts } from '#features/operation/overview/background-jobs/views.ts'
import type { OverviewView } from '#features/operation/overview/views.ts'
import { withQuery } from '#web/kit/paths.ts'
import { exactTime, wholeNumber } from '#web/ui/format.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import { type Language, messageOr } from '#web/ui/languages.ts'
import { icon, type PageContext, pathTo } from '#web/ui/page-context.ts'
import { sheetHead } from '#web/ui/parts/frame.ts'
import { status } from '#web/ui/parts/status.ts'
import { listTable, nameCell } from '#web/ui/parts/tables.ts'

/** Returns what jobs of a type do, otherwise the name of the type. */
export const taskName = (language: Language, task: string): string => messageOr(language, `operate.task.${task}`, task)

/** Renders the types of jobs with the number of jobs in each state. Types with failed jobs link to a retry. */
export function taskTable(
  page: PageContext,
  tasks: readonly TaskCounts[],
  of: { title: string; action?: Markup },
): Markup {
  const { language } = page
  const { t } = language
  const head = sheetHead({ ...of, isRuled: true })
  if (tasks.length === 0) return html`<section>${head}<p class="part soft">${t('operate.jobs.none')}</p></section>`
  return html`<section>${head}
${listTable(page, {
  caption: t('operate.jobs.by-type'),
  columns: [
    { label: t('operate.jobs.type') },
    { label: t('operate.state.due'), isNumber: true },
    { label: t('operate.state.scheduled'), isNumber: true, room: 'mid' },
    { label: t('operate.state.running'), isNumber: true, room: 'mid' },
    { label: t('operate.state.retrying'), isNumber: true, room: 'far' },
    { label: t('operate.state.failed'), isNumber: true },
    { label: t('operate.actions'), isAction: true },
  ],
  rows: tasks.map((counts) => taskRow(page, counts)),
})}</section>`
}

function taskRow(page: PageContext, counts: TaskCounts): { cells: readonly Part[] } {
  const { language } = page
  const { t } = language
  const number = (value: number) => wholeNumber(language, value)
  const { task, due, scheduled, running, retrying, failed } = counts
  const small = (state: 'scheduled' | 'running' | 'retrying') =>
    html`${t(`operate.state.${state}`)}: ${number(counts[state])}`
  const retry = withQuery('/operator/jobs/confirm', { action: 'retry', task })
  return {
    cells: [
      nameCell({
        href: pathTo(page, withQuery('/operator/jobs', { task })),
        name: taskName(language, task),
        details: html`<code>${task}</code>`,
        near: small('retrying'),
        least: [html`${small('scheduled')}, ${small('running')}`],
      }),
      number(due),
      number(scheduled),
      number(running),
      number(retrying),
      failed > 0 ? status(page, { kind: 'bad', icon: 'alert', label: number(failed) }) : number(0),
      failed > 0 &&
        html`<a class="button tight" href="${pathTo(page, retry)}">${icon(page, 'refresh')}<span class="words">${t('operate.retry')}<span class="vh"> ${taskName(language, task)}</span></span></a>`,
    ],
  }
}

/** Renders the recurring jobs with their last and next turn. */
export function recurringPart(page: PageContext, jobs: OverviewView['recurring']): Part {
  if (jobs.length === 0) return null
  const { language } = page
  const { t } = language
  return html`<details class="part"><summary>${t('operate.recurring', { count: jobs.length })}</summary>
${listTable(page, {
  caption: t('operate.recurring', { count: jobs.length }),
  columns: [
    { label: t('operate.jobs.type') },
    { label: t('operate.recurring.last'), room: 'mid' },
    { label: t('operate.recurring.next') },
  ],
  rows: jobs.map(({ task, last, next }) => {
    const before = exactTime(language, new Date(last))
    const href = pathTo(page, withQuery('/operator/jobs', { task }))
    return {
      cells: [
        nameCell({ href, name: taskName(language, task), details: html`<code>${task}</code>`, least: [before] }),
        before,
        exactTime(language, new Date(next)),
      ],
    }
  }),
})}</details>`
}
