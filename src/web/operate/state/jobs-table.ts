// Background jobs by type.
import type { TaskCounts } from '#features/operations/overview/background-jobs/views.ts'
import { wholeNumber } from '#platform/html/format.ts'
import { html, type Markup, type Part } from '#platform/html/html.ts'
import { type Language, messageOr } from '#platform/html/languages.ts'
import { icon, type PageContext, pathTo } from '#platform/html/page-context.ts'
import { sheetHead } from '#platform/html/work/frame.ts'
import { status } from '#platform/html/work/status.ts'
import { listTable, nameCell } from '#platform/html/work/tables.ts'
import { withQuery } from '#web/kit/paths.ts'

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
