// Threads with messages that no moderator has answered, longest waiting first.
import {
  countUnansweredThreads,
  listUnansweredThreads,
  type UnansweredThread,
} from '#features/catalogue/threads/unanswered-queries.ts'
import { excerptOf } from '#lib/markdown/plain-text.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS, pageNumber, reviewPath } from '#web/kit/paths.ts'
import { reasonName } from '#web/site/report.ts'
import { timeAgo } from '#web/ui/format.ts'
import { html, type Markup } from '#web/ui/html.ts'
import { type PageContext, pathTo } from '#web/ui/page-context.ts'
import { sheetHead } from '#web/ui/parts/frame.ts'
import { emptyState } from '#web/ui/parts/lists.ts'
import { statusOf } from '#web/ui/parts/status.ts'
import { listTable, nameCell, type Row } from '#web/ui/parts/tables.ts'
import { moderatedReport, ROWS, showSection } from '../frame.ts'
import { filterForm, listPager, offsetOf } from '../parts.ts'
import { reportStatus } from './report-page.ts'

const TYPES = ['project', 'report'] as const

export function threadListPage(pages: Pages): void {
  pages.own('GET', PATHS.moderationThreads, 'moderateThreads', showThreads, {
    role: 'moderator',
    shows: 'Threads that wait for an answer',
    api: 'listUnansweredThreads',
  })
}

async function showThreads(request: OwnRequest) {
  const { deps, page, query, t } = request
  const type = TYPES.find((each) => each === query('type'))
  const current = pageNumber(request)
  const total = await countUnansweredThreads(deps.db, { type })
  const threads = await listUnansweredThreads(deps.db, { type, count: ROWS, offset: offsetOf(current) })
  const choices = TYPES.map((value) => ({ value, label: t(`reports.threads.${value}`) }))
  return showSection(request, {
    section: PATHS.moderationThreads,
    title: t('reports.threads.title'),
    body: [
      sheetHead({ title: t('reports.threads.count', { count: total }), text: t('reports.threads.text') }),
      filterForm(page, { selects: [{ name: 'type', label: t('reports.threads.type'), value: type ?? '', choices }] }),
      threads.length === 0
        ? emptyState(page, { icon: 'chat', title: t('reports.threads.empty') })
        : table(page, threads),
      listPager(page, { path: PATHS.moderationThreads, current, total, query: { type: type ?? '' } }),
    ],
  })
}

function table(page: PageContext, threads: readonly UnansweredThread[]): Markup {
  const { t } = page.language
  return listTable(page, {
    caption: t('reports.threads.title'),
    columns: [
      { label: t('reports.threads.subject') },
      { label: t('reports.threads.message'), room: 'mid' },
      { label: t('reports.threads.since') },
    ],
    rows: threads.map((thread) => row(page, thread)),
  })
}

/** The list contains the first 400 characters of a message. */
const TEXT_MAX = 400

function row(page: PageContext, { project, report, author, text, since }: UnansweredThread): Row {
  const { language } = page
  const { t } = language
  const message = html`<span dir="auto">${excerptOf(text, TEXT_MAX)}</span>`
  const subject =
    project !== null
      ? {
          path: `${reviewPath(project.id)}#thread`,
          name: project.name,
          mark: statusOf(page, 'project', project.status),
        }
      : {
          path: `${moderatedReport(report?.id ?? '')}#thread`,
          name: t('reports.threads.of-report', { reason: reasonName(language, report?.report_type ?? '') }),
          mark: report !== null && reportStatus(page, { closed: report.closed, outcome: null }),
        }
  return {
    cells: [
      nameCell({
        href: pathTo(page, subject.path),
        name: subject.name,
        details: html`${subject.mark} ${author !== null && html`<bdi>${author}</bdi>`}`,
        least: [message],
      }),
      message,
      timeAgo(language, since, page.now),
    ],
  }
}
