// The first page for operators: problems, dependencies, figures, charts, jobs, server errors and recent actions.
import { listEntries } from '#features/basics/audit/queries.ts'
import { getSettings } from '#features/basics/settings/settings-cache.ts'
import { loadErrors } from '#features/operation/overview/errors/load-errors.ts'
import type { ErrorsView } from '#features/operation/overview/errors/views.ts'
import { PERIOD_NAMES, type Period } from '#features/operation/overview/figures/periods.ts'
import { loadOverview } from '#features/operation/overview/load-overview.ts'
import type { Problem, ProblemCode } from '#features/operation/overview/problems.ts'
import { listMeasures } from '#features/operation/overview/storage/queries.ts'
import type { OverviewView } from '#features/operation/overview/views.ts'
import { listOperatorRequests, type OperatorRequest } from '#features/people/notifications/queries.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS, withQuery } from '#web/kit/paths.ts'
import { workTiles } from '#web/moderate/home.ts'
import { entryList } from '#web/moderate/log/entries.ts'
import { countOf, dayText, exactTime, fileSize, timeAgo, wholeNumber } from '#web/ui/format.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import type { IconName } from '#web/ui/icons.ts'
import { type Language, messageOr } from '#web/ui/languages.ts'
import { icon, type PageContext, pathTo } from '#web/ui/page-context.ts'
import { sheetPart } from '#web/ui/parts/frame.ts'
import { note, segments } from '#web/ui/parts/lists.ts'
import { status } from '#web/ui/parts/status.ts'
import { listTable } from '#web/ui/parts/tables.ts'
import { showOperator } from '../sections.ts'
import { stepsNote } from '../setup/first-steps.ts'
import { chartsOf, diskText, sendChart } from './charts.ts'
import { recurringPart, taskTable } from './jobs-table.ts'
import { periodOf } from './period.ts'

const ERRORS_SHOWN = 5
const ENTRIES_SHOWN = 8
const REQUESTS_SHOWN = 5
/** Characters of the commit. */
const COMMIT_SHOWN = 12

export function overviewPages(pages: Pages): void {
  pages.own('GET', PATHS.operator, 'operateOverview', showOverview, {
    role: 'admin',
    shows: 'Problems, dependencies, figures, jobs, errors',
    api: 'getReadiness getOverview',
  })
  pages.own('GET', '/operator/figures.csv', 'operateFigures', sendChart, { role: 'admin' })
  pages.own('GET', '/operator/errors', 'operateErrors', showErrors, {
    role: 'admin',
    shows: 'Responses with 5xx by code and endpoint',
    api: 'listServerErrors',
  })
}

async function showOverview(request: OwnRequest) {
  const { deps, page, checks, language, viewer } = request
  const period = periodOf(request)
  const overview = await loadOverview({ ...deps, checks }, period)
  const errors = await loadErrors(deps, period, { limit: ERRORS_SHOWN, offset: 0 })
  const entries = await listEntries(deps.db, {}, { limit: ENTRIES_SHOWN })
  const requests = await listOperatorRequests(deps.db, viewer.id, REQUESTS_SHOWN)
  const charts = chartsOf(page, { figures: overview.figures, overview, measures: await listMeasures(deps.db) })
  return showOperator(request, {
    section: PATHS.operator,
    heading: language.t('operate.overview'),
    facts: factsOf(page, overview),
    tools: toolsOf(page),
    action: periods(page, PATHS.operator, period),
    body: html`<section class="part tightly" aria-labelledby="now-h"><h3 id="now-h" class="vh">${language.t('operate.now')}</h3>
${stepsNote(page, overview.first_steps, await getSettings(deps))}${problemNotes(page, overview.problems)}
${dependencies(page, overview)}</section>
${waitingPart(page, overview, requests)}
${tiles(page, overview)}
<div class="plots">
${charts}</div>
${taskTable(page, overview.tasks, { title: language.t('operate.jobs'), action: html`<a href="${pathTo(page, '/operator/jobs')}">${language.t('operate.jobs.all')}</a>` })}
${recurringPart(page, overview.recurring)}
${errorPart(page, errors, period)}
${sheetPart({
  id: 'recent',
  title: language.t('operate.recent'),
  action: html`<a href="${pathTo(page, '/operator/audit-log')}">${language.t('operate.recent.all')}</a>`,
  content: entryList(page, entries),
})}`,
  })
}

async function showErrors(request: OwnRequest) {
  const { deps, page } = request
  const period = periodOf(request)
  const errors = await loadErrors(deps, period, { limit: 500, offset: 0 })
  return showOperator(request, {
    section: PATHS.operator,
    heading: page.language.t('operate.errors'),
    action: periods(page, '/operator/errors', period),
    body: sheetPart({ id: 'all-errors', content: errorTable(page, errors) }),
  })
}

const versionOf = ({ version, commit }: OverviewView): string =>
  commit === null ? version : `${version} (${commit.slice(0, COMMIT_SHOWN)})`

function periods(page: PageContext, path: string, current: Period): Markup {
  const { t } = page.language
  return segments(
    t('operate.period'),
    PERIOD_NAMES.map((period) => ({
      href: pathTo(page, withQuery(path, { period })),
      label: t(`operate.period.${period}`),
      isCurrent: period === current,
    })),
  )
}

function factsOf(page: PageContext, overview: OverviewView): Part[] {
  const { t, rich } = page.language
  const kinds = { ready: 'good', degraded: 'wait', unavailable: 'bad' } as const
  const icons = { ready: 'ok', degraded: 'wait', unavailable: 'alert' } as const
  const lastBackup = overview.last_good_backup
  const hours = Math.floor(overview.uptime_seconds / 3600)
  return [
    status(page, {
      kind: kinds[overview.status],
      icon: icons[overview.status],
      label: t(`operate.status.${overview.status}`),
    }),
    t('operate.version', { version: versionOf(overview) }),
    hours < 48 ? t('operate.uptime.hours', { hours }) : t('operate.uptime.days', { days: Math.floor(hours / 24) }),
    lastBackup === null
      ? t('operate.last-backup.none')
      : rich('operate.last-backup', { age: timeAgo(page.language, new Date(lastBackup), page.now) }),
    ...(overview.certificate_until === null
      ? []
      : [t('operate.certificate', { date: dayText(page.language, new Date(overview.certificate_until)) })]),
  ]
}

function toolsOf(page: PageContext): Markup {
  const { t } = page.language
  return html`<a class="button" href="${pathTo(page, PATHS.readOnly)}">${icon(page, 'lock')}${t('ops.read-only')}</a><a class="button" href="${pathTo(page, '/ready')}">${icon(page, 'pulse')}${t('operate.ready')}</a>`
}

function dependencies(page: PageContext, { dependencies: all }: OverviewView): Markup {
  const { t } = page.language
  const icons: Record<string, readonly [IconName, string]> = {
    ok: ['ok', 'good'],
    slow: ['wait', 'wait'],
    degraded: ['alert', 'bad'],
    failing: ['alert', 'bad'],
  }
  const items = Object.entries(all).map(([name, { status: state }]) => {
    const [symbol, kind] = icons[state] ?? ['info', '']
    return html`<li><span class="status ${kind}">${icon(page, symbol)}</span><span>${dependencyName(page.language, name)}<br><small>${t(`operate.dependency-status.${state}`)}</small></span></li>`
  })
  return html`<ul class="deps">${items}</ul>`
}

function tiles(page: PageContext, { figures: { totals }, totals: all, disk }: OverviewView): Markup {
  const { language } = page
  const { t } = language
  const share = totals.requests === 0 ? 0 : (100 * totals.failed) / totals.requests
  const failed = new Intl.NumberFormat(language.tag, { numberingSystem: 'latn', maximumFractionDigits: 2 }).format(
    share,
  )
  const added = (count: number): string => t('operate.tile.added', { count })
  const of: readonly [IconName, string, Part, Part][] = [
    ['users', t('operate.tile.accounts'), countOf(language, all.accounts), added(totals.accounts)],
    ['package', t('operate.tile.projects'), countOf(language, all.projects), added(totals.projects)],
    ['upload', t('operate.tile.versions'), countOf(language, all.versions), added(totals.versions)],
    ['archive', t('operate.tile.files'), countOf(language, all.files), t('operate.tile.files.text')],
    [
      'download',
      t('operate.tile.downloads'),
      countOf(language, all.downloads),
      t('operate.tile.in-period', { count: totals.downloads }),
    ],
    [
      'disk',
      t('operate.storage'),
      all.file_bytes === null ? t('operate.problem.unknown') : fileSize(language, all.file_bytes),
      diskText(page, disk),
    ],
    [
      'globe',
      t('operate.tile.requests'),
      countOf(language, totals.requests),
      t('operate.tile.requests.text', { share: failed }),
    ],
  ]
  return html`<dl class="tiles">
${of.map(
  ([
    symbol,
    label,
    value,
    text,
  ]) => html`<div><dt>${icon(page, symbol)}${label}</dt><dd class="big">${value}</dd><dd class="change">${text}</dd></div>
`,
)}</dl>`
}

/** Links to the work that waits for moderators and operators. */
function waitingPart(page: PageContext, { moderation }: OverviewView, asked: readonly OperatorRequest[]): Markup {
  const { language } = page
  const { t } = language
  const requests = asked.map(({ message, user_id: id, created }) => {
    const more = html`<a href="${pathTo(page, `/moderation/user/${id}`)}">${t('operate.asked.account')}</a>`
    return html`<li><p dir="auto">${message}</p><p class="small soft">${timeAgo(language, created, page.now)} · ${more}</p></li>`
  })
  return sheetPart({
    id: 'waiting',
    title: t('operate.waiting'),
    content: html`${workTiles(page, moderation, { accounts: PATHS.operatorUsers })}
${requests.length > 0 && html`<h4>${t('operate.asked')}</h4><ul class="entries">${requests}</ul>`}`,
  })
}

function errorPart(page: PageContext, errors: ErrorsView, period: Period): Markup {
  const { t } = page.language
  return sheetPart({
    id: 'errors-of-period',
    title: t('operate.errors'),
    action: html`<a href="${pathTo(page, withQuery('/operator/errors', { period }))}">${t('operate.errors.all')}</a>`,
    content: errorTable(page, errors),
  })
}

function errorTable(page: PageContext, { since, errors }: ErrorsView): Markup {
  const { language } = page
  const { t, rich } = language
  if (errors.length === 0)
    return html`<p class="soft">${rich('operate.errors.none', { since: exactTime(language, new Date(since)) })}</p>`
  return html`<p class="small soft">${rich('operate.errors.since', { since: exactTime(language, new Date(since)) })}</p>
${listTable(page, {
  caption: t('operate.errors'),
  isInner: true,
  columns: [
    { label: t('operate.errors.code') },
    { label: t('operate.errors.route'), room: 'mid' },
    { label: t('operate.errors.count'), isNumber: true },
    { label: t('operate.errors.last'), room: 'far' },
    { label: t('operate.errors.request'), room: 'far' },
  ],
  rows: errors.map(({ code, route, count, last, request_id: id }) => {
    const time = exactTime(language, new Date(last))
    return {
      cells: [
        html`<code>${code}</code><span class="least">${route}</span><span class="near">${time}, <code>${id}</code></span>`,
        html`<code>${route}</code>`,
        countOf(language, count),
        time,
        html`<code>${id}</code>`,
      ],
    }
  }),
})}`
}

/** Pages on which an operator can solve a problem. */
const PAGES: Partial<Record<ProblemCode, string>> = {
  jobs_failed: '/operator/jobs?state=failed',
  jobs_waiting: '/operator/jobs?state=due',
  mail_rejected: '/operator/mail?show=rejected',
  mail_in_folder: '/operator/mail',
  errors: '/operator/errors?period=1h',
  slow: '/operator?period=1h',
  disk_full: '/operator/storage',
  disk_filling: '/operator/storage',
  orphaned_files: '/operator/storage',
  backup_missing: '/operator/backups',
  backup_old: '/operator/backups',
  backup_incomplete: '/operator/backups',
  backup_late: '/operator/jobs?state=failed',
  review_waiting: '/moderation/queue',
  scans_waiting: '/moderation/scans?state=pending',
  scanner_failing: '/moderation/scans?state=pending',
  base_url: PATHS.firstSteps,
  read_only: PATHS.readOnly,
  manifest_failing: `${PATHS.operatorTags}/game_versions`,
  game_versions_old: `${PATHS.operatorTags}/game_versions`,
}

/** Renders one note for each problem. Without problems, renders one note that says so. */
function problemNotes(page: PageContext, problems: readonly Problem[]): Part {
  const { t } = page.language
  if (problems.length === 0) return note(page, 'good', html`<p class="strong">${t('operate.no-problems')}</p>`)
  return problems.map((problem) => problemNote(page, problem))
}

function problemNote(page: PageContext, { code, severity, values }: Problem): Part {
  const { language } = page
  const { t } = language
  const shown = shownValues(language, values)
  const path = PAGES[code]
  const title = t(`operate.problem.${code}`, shown)
  const link =
    path !== undefined &&
    html` <a href="${pathTo(page, path)}">${t('operate.problem.link')}<span class="vh">: ${title}</span></a>`
  const content = html`<p class="strong">${title}</p><p>${t(`operate.problem.${code}.text`, shown)}${link}</p>`
  return note(page, severity === 'error' ? 'bad' : 'warn', content)
}

/** Returns the values as they occur in sentences: sizes with units, names of parts. */
function shownValues(language: Language, values: Problem['values']): Record<string, string | number> {
  const entries = Object.entries(values).map(([name, value]): [string, string | number] => {
    if (value === null) return [name, language.t('operate.problem.unknown')]
    if (/bytes$/.test(name)) return [name, fileSize(language, Number(value))]
    if (name === 'p95_ms') return [name, wholeNumber(language, Number(value))]
    if (name === 'name') return [name, dependencyName(language, String(value))]
    return [name, value]
  })
  return Object.fromEntries(entries)
}

/** Returns the name of a part of `/ready`. */
const dependencyName = (language: Language, name: string): string =>
  messageOr(language, `operate.dependency.${name}`, name)
