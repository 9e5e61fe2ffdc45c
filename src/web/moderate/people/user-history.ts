// The history of a user: the timeline, and the lists of their record.
import type { UserRecordView } from '#features/community/moderation/users/views.ts'
import { reviewPath } from '#web/kit/paths.ts'
import { reasonName } from '#web/site/report.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import type { IconName } from '#web/ui/icons.ts'
import { messageOr } from '#web/ui/languages.ts'
import { icon, type PageContext, pathTo } from '#web/ui/page-context.ts'
import { sheetPart } from '#web/ui/parts/frame.ts'
import { statusOf } from '#web/ui/parts/status.ts'
import { listTable, nameCell, type Table } from '#web/ui/parts/tables.ts'
import { moderatedReport } from '../frame.ts'
import { timeOf } from '../parts.ts'
import { reportStatus } from '../reports/report-page.ts'

type Entry = UserRecordView['timeline'][number]

const ICONS: Readonly<Record<Entry['kind'], IconName>> = {
  joined: 'user-plus',
  project: 'box',
  review: 'gavel',
  report_by: 'flag',
  report_about: 'alert',
  quarantine: 'scan',
  suspension: 'ban',
}

/** Returns the numbers of the record as rows of a list of facts. */
export function recordFacts({ language: { t } }: PageContext, { counts }: UserRecordView): [label: string, Part][] {
  return [
    [
      t('reports.user.reviews'),
      t('reports.user.reviews-count', { approved: counts.approved, rejected: counts.rejected }),
    ],
    [t('reports.user.reports-about'), t('reports.record', { action: counts.reports_action, reports: counts.reports })],
    [
      t('reports.user.reports-by'),
      t('reports.reporter.record', { action: counts.reports_by_action, reports: counts.reports_by_closed }),
    ],
  ]
}

export function timelinePart(page: PageContext, { timeline }: UserRecordView): Markup {
  const { t } = page.language
  const items = timeline.map(
    (entry) =>
      html`<li class="event">${icon(page, ICONS[entry.kind])}<span>${textOf(page, entry)} · ${timeOf(page, entry.at)}</span></li>
`,
  )
  return sheetPart({
    id: 'timeline',
    title: t('reports.timeline'),
    content: html`<ol class="thread">
${items}</ol>`,
  })
}

function textOf(page: PageContext, { kind, id, text, to }: Entry): Part {
  const { language } = page
  const { t, rich } = language
  const link = (path: string, name: string) => html`<a href="${pathTo(page, path)}"><bdi>${name}</bdi></a>`
  switch (kind) {
    case 'joined':
      return t('reports.timeline.joined')
    case 'project':
      return rich('reports.timeline.project', { name: link(reviewPath(id), text) })
    case 'review':
      return rich('reports.timeline.review', {
        name: link(reviewPath(id), text),
        status: statusOf(page, 'project', to ?? ''),
      })
    case 'report_by':
    case 'report_about': {
      const reason = link(moderatedReport(id), reasonName(language, text))
      return kind === 'report_by'
        ? rich('reports.timeline.report_by', { reason })
        : rich('reports.timeline.report_about', { reason })
    }
    case 'quarantine':
      return rich('reports.timeline.quarantine', { name: html`<bdi>${text}</bdi>` })
    case 'suspension': {
      const label = t(to === 'account.unsuspended' ? 'reports.timeline.unsuspended' : 'reports.timeline.suspended')
      return text === '' ? label : html`${label} <span dir="auto">${text}</span>`
    }
  }
}

/** Renders the projects, decisions, reports and versions of a user. Empty lists are left out. */
export function historyParts(page: PageContext, record: UserRecordView): Part {
  const { t } = page.language
  const part = (id: string, title: string, { columns, rows }: Omit<Table, 'caption'>): Part =>
    rows.length > 0 &&
    sheetPart({ id, title, content: listTable(page, { caption: title, columns, rows, isInner: true }) })
  return [
    part('projects', t('reports.user.projects'), projects(page, record)),
    part('reviews', t('reports.user.reviews'), reviews(page, record)),
    part('reports', t('reports.list.title'), reports(page, record)),
    part('versions', t('reports.user.quarantined'), versions(page, record)),
  ]
}

function projects(page: PageContext, { projects: rows }: UserRecordView) {
  const { t } = page.language
  return {
    columns: [{ label: t('reports.user.project') }, { label: t('reports.status') }],
    rows: rows.map((row) => ({ cells: [projectCell(page, row), statusOf(page, 'project', row.status)] })),
  }
}

function reviews(page: PageContext, { reviews: rows }: UserRecordView) {
  const { t } = page.language
  return {
    columns: [
      { label: t('reports.user.project') },
      { label: t('reports.user.decision') },
      { label: t('reports.moderator'), room: 'mid' as const },
      { label: t('reports.time'), room: 'far' as const },
    ],
    rows: rows.map((row) => ({
      cells: [
        projectCell(page, row, { near: timeOf(page, row.at), least: row.moderator }),
        statusOf(page, 'project', row.new_status),
        row.moderator,
        timeOf(page, row.at),
      ],
    })),
  }
}

function reports(page: PageContext, { reports: rows }: UserRecordView) {
  const { language } = page
  const { t } = language
  const direction = (value: string): string => messageOr(language, `reports.direction.${value}`, value)
  return {
    columns: [
      { label: t('reports.reason') },
      { label: t('reports.direction') },
      { label: t('reports.status'), room: 'mid' as const },
      { label: t('reports.time'), room: 'far' as const },
    ],
    rows: rows.map((row) => ({
      cells: [
        nameCell({
          href: pathTo(page, moderatedReport(row.id)),
          name: reasonName(language, row.report_type),
          near: timeOf(page, row.created),
          least: [reportStatus(page, row)],
        }),
        direction(row.direction),
        reportStatus(page, row),
        timeOf(page, row.created),
      ],
    })),
  }
}

function versions(page: PageContext, { versions: rows }: UserRecordView) {
  const { t } = page.language
  return {
    columns: [{ label: t('reports.scans.version') }, { label: t('reports.scans.finding') }],
    rows: rows.map((row) => ({
      cells: [
        projectCell(page, { ...row, project_name: `${row.project_name} ${row.version_number}` }),
        html`<span dir="auto">${row.reason}</span> ${row.released && html`<small class="soft">${t('reports.scans.released')}</small>`}`,
      ],
    })),
  }
}

function projectCell(
  page: PageContext,
  { project_id, project_name }: { project_id: string; project_name: string },
  { near, least }: { near?: Part; least?: Part } = {},
): Markup {
  return nameCell({
    href: pathTo(page, reviewPath(project_id)),
    name: project_name,
    ...(near === undefined ? {} : { near }),
    ...(least === undefined ? {} : { least: [least] }),
  })
}
