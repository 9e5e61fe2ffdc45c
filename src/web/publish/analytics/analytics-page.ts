// The analytics pages: of all projects of the user, of a project, and of a version; and their numbers as CSV.
import type { FastifyReply } from 'fastify'
import { requirePermission } from '#features/basics/access/project-policy.ts'
import { getSettings } from '#features/basics/settings/settings-cache.ts'
import { canSeeAnalytics } from '#features/reading/analytics/policy.ts'
import { ApiError, validationError } from '#lib/errors.ts'
import { DAY_MS } from '#lib/time.ts'
import { prefersCsv } from '#platform/http/preferred-type.ts'
import type { Taxonomy } from '#taxonomy/taxonomy.ts'
import { EMPTY, type FormState } from '#web/kit/forms/form-page.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS, projectSegments } from '#web/kit/paths.ts'
import { exactTime } from '#web/ui/format.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import { icon, type PageContext, pathTo } from '#web/ui/page-context.ts'
import { checkbox, type FormErrors, hiddenField, selectField, textField } from '#web/ui/parts/fields.ts'
import { sheetHead } from '#web/ui/parts/frame.ts'
import { emptyState, segments } from '#web/ui/parts/lists.ts'
import { timePlotCsv } from '#web/ui/plots/time-plot.ts'
import { noProjects } from '../dashboard/dashboard.ts'
import { showDashboardPage } from '../dashboard/dashboard-frame.ts'
import { loadManagedProject, type ManagedProject, may } from '../project/managed-project.ts'
import { showProjectSettings, toCanonical } from '../project/settings-frame.ts'
import { nameParts } from './breakdown.ts'
import { breakdownSection, partsCsv } from './breakdown-view.ts'
import { chartFigure, counterTiles, metricTiles, plotOf, type Shown } from './chart-view.ts'
import { loadNumbers } from './load-numbers.ts'
import { METRICS } from './metrics.ts'
import {
  hrefOf,
  isoDay,
  readSelection,
  type Selection,
  SPANS,
  STEPS,
  type Step,
  type Typed,
  typedOf,
} from './selection.ts'
import { type Subject, subjectOfAccount, subjectOfProject } from './subject.ts'

/** When the store stopped responding to the pages of this process; undefined while it responds. */
type Outage = { since: Date | undefined }

export function analyticsPages(pages: Pages, taxonomy: Taxonomy): void {
  const outage: Outage = { since: undefined }
  const account = (request: OwnRequest) => showAccount(request, outage)
  pages.own('GET', PATHS.analytics, 'publishAnalytics', pageOrCsv(account, sendAccountCsv), { api: 'queryAnalytics' })
  pages.own('GET', `${PATHS.analytics}.csv`, 'publishAnalyticsCsv', sendAccountCsv)
  for (const segment of projectSegments(taxonomy)) {
    const path = `/${segment}/:slug/settings/analytics`
    const project = (request: OwnRequest) => showProject(request, outage)
    pages.own('GET', path, 'manageAnalytics', pageOrCsv(project, sendProjectCsv))
    pages.own('GET', `${path}.csv`, 'manageAnalyticsCsv', sendProjectCsv)
  }
}

type Handler = (request: OwnRequest) => Promise<FastifyReply>

const pageOrCsv =
  (page: Handler, csv: Handler): Handler =>
  (request) =>
    prefersCsv(request.req.headers.accept, 'text/html') ? csv(request) : page(request)

async function showAccount(request: OwnRequest, outage: Outage): Promise<FastifyReply> {
  const { page, t } = request
  const subject = await subjectOfAccount(request)
  const content = await contentOf(request, subject, outage)
  return showDashboardPage(request, {
    path: PATHS.analytics,
    title: t('numbers.title'),
    form: content.form,
    body: html`${sheetHead({ title: t('numbers.title'), text: t('numbers.text'), action: content.spans })}
${subject.projects.size === 0 ? noProjects(page) : content.body}`,
  })
}

async function showProject(request: OwnRequest, outage: Outage): Promise<FastifyReply> {
  const { viewer, query, t } = request
  const data = await loadManagedProject(request)
  const elsewhere = toCanonical(request, data)
  if (elsewhere !== undefined) return elsewhere
  const common = { section: '/analytics', heading: t('numbers.title'), text: t('numbers.text') }
  const missing = !canSeeAnalytics(viewer, data.membership)
    ? 'VIEW_ANALYTICS'
    : query('m') === 'revenue' && !may(data, 'VIEW_PAYOUTS')
      ? 'VIEW_PAYOUTS'
      : undefined
  if (missing !== undefined)
    return showProjectSettings(request, data, { ...common, needs: missing, isToSee: true, body: undefined })
  const content = await contentOf(request, await subjectOfProject(request, data), outage)
  return showProjectSettings(request, data, {
    ...common,
    action: content.spans,
    form: content.form,
    body: content.body,
  })
}

type Content = { spans: Markup; form: FormState; body: Markup }

/** Renders everything below the heading: form, tiles, chart and table; or what is wrong with the URL. */
async function contentOf(request: OwnRequest, subject: Subject, outage: Outage): Promise<Content> {
  const { page } = request
  const typed = typedOf(request)
  const { selection, errors: wrong = [] } = readSelection(request, typed, subject.offer)
  const shown = selection === undefined ? wrong : await numbersOf(request, { subject, typed, selection, outage })
  const errors: FormErrors = Array.isArray(shown) ? shown : []
  const head = periodForm(page, subject, { typed, from: selection?.from ?? '', to: selection?.to ?? '', errors })
  const [first] = errors
  return {
    spans: spanLinks(page, subject, { typed, days: selection?.days }),
    form: first === undefined ? EMPTY : { ...EMPTY, errors, refusal: { ...first, status: 400 } },
    body: html`<div class="part">${head}</div>
${!Array.isArray(shown) && shown}`,
  }
}

type Wanted = { subject: Subject; typed: Typed; selection: Selection; outage: Outage }

/** Renders tiles, chart and table; or returns the error if they would need too many points. */
async function numbersOf(
  request: OwnRequest,
  { outage, ...of }: Wanted,
): Promise<Markup | { field: string; message: string }[]> {
  const { page } = request
  try {
    const numbers = await loadNumbers(request, of.subject, of.selection)
    if (numbers === undefined) {
      outage.since ??= new Date(page.now)
      return unavailable(page, of.subject, outage.since)
    }
    outage.since = undefined
    const shown: Shown = { ...of, numbers }
    const { currency } = await getSettings(request.deps)
    const parts = await nameParts(request, of.subject, shown)
    return html`${metricTiles(page, { ...shown, currency })}
${await chartFigure(request, shown)}
${breakdownSection(page, shown, parts)}`
  } catch (error) {
    if (!(error instanceof ApiError) || error.kind !== 'invalid_input') throw error
    return [{ field: 'step', message: page.language.t('numbers.error.points') }]
  }
}

/** Renders the counters, and since when there is no chart. */
function unavailable(page: PageContext, subject: Subject, since: Date): Markup {
  const { t, rich } = page.language
  const retry = html`<a class="button" href="${page.address}">${t('numbers.retry')}</a>`
  return html`${counterTiles(page, subject)}
${emptyState(page, {
  icon: 'chart',
  title: t('numbers.unavailable'),
  text: rich('numbers.unavailable.since', { since: exactTime(page.language, since) }),
  action: retry,
})}`
}

async function sendAccountCsv(request: OwnRequest): Promise<FastifyReply> {
  return sendCsv(request, await subjectOfAccount(request))
}

async function sendProjectCsv(request: OwnRequest): Promise<FastifyReply> {
  const { viewer, query } = request
  const data: ManagedProject = await loadManagedProject(request)
  requirePermission(viewer, data.membership, 'VIEW_ANALYTICS')
  if (query('m') === 'revenue') requirePermission(viewer, data.membership, 'VIEW_PAYOUTS')
  return toCanonical(request, data) ?? sendCsv(request, await subjectOfProject(request, data))
}

/** Sends the table if the URL names a breakdown, otherwise the chart. @throws ApiError if the URL or the store is wrong */
async function sendCsv(request: OwnRequest, subject: Subject): Promise<FastifyReply> {
  const { page, reply } = request
  const typed = typedOf(request)
  const { selection, errors } = readSelection(request, typed, subject.offer)
  if (selection === undefined) throw validationError(errors[0]?.field ?? 'm', errors[0]?.message ?? '')
  const numbers = await loadNumbers(request, subject, selection)
  if (numbers === undefined) throw new ApiError('service_unavailable', page.language.t('numbers.unavailable'))
  const shown: Shown = { subject, typed, selection, numbers }
  const isTable = typed.by !== '' && selection.by !== undefined
  const csv = isTable
    ? partsCsv(page, shown, await nameParts(request, subject, shown))
    : timePlotCsv(plotOf(page, shown))
  const { metric, by, from, to } = selection
  const name = [subject.fileName, METRICS[metric].field, isTable && by, from, to].filter(Boolean).join('-')
  return reply
    .type('text/csv; charset=utf-8')
    .header('content-disposition', `attachment; filename="${name}.csv"`)
    .header('cache-control', 'private, no-cache')
    .header('vary', 'accept, accept-language, cookie')
    .send(csv)
}

/** Links to the periods that end today. */
function spanLinks(page: PageContext, subject: Subject, { typed, days }: { typed: Typed; days?: number | undefined }) {
  const { t } = page.language
  const isUntilToday = typed.to === '' || typed.to === isoDay(page.now)
  const items = SPANS.map((span) => ({
    href: pathTo(page, hrefOf(subject.path, typed, { from: isoDay(page.now - (span - 1) * DAY_MS), to: '', step: '' })),
    label: t('numbers.days', { count: span }),
    isCurrent: isUntilToday && days === span,
  }))
  return segments(t('numbers.period'), items)
}

/** Renders the form with the typed values, so that an error loses nothing. `from` and `to`: the selected days. */
function periodForm(
  page: PageContext,
  subject: Subject,
  of: { typed: Typed; from: string; to: string; errors: FormErrors },
): Markup {
  const { t } = page.language
  const { typed, errors } = of
  const day = (name: 'from' | 'to', value: string) =>
    textField(page, {
      name,
      label: t(`numbers.field.${name}`),
      value: typed[name] || value,
      type: 'date',
      max: isoDay(page.now),
      errors,
    })
  const steps = (Object.keys(STEPS) as Step[]).map((step) => ({
    value: step as string,
    label: t(`numbers.step.${step}`),
    isChosen: typed.step === step,
  }))
  const step = selectField(page, {
    name: 'step',
    label: t('numbers.field.step'),
    choices: [{ value: '', label: t('numbers.step.automatic') }, ...steps],
    errors,
  })
  const hidden = (['m', 'project', 'version', 'by'] as const).map(
    (name) => typed[name] !== '' && hiddenField(name, typed[name]),
  )
  const compare = checkbox({
    name: 'compare',
    value: 'before',
    isChecked: typed.compare === 'before',
    label: t('numbers.compare'),
  })
  return html`<form method="get" action="${pathTo(page, subject.path)}" class="period">${hidden}
${day('from', of.from)}
${day('to', of.to)}
${step}
${compare}
<button>${t('numbers.apply')}</button></form>
${filters(page, subject, typed)}`
}

/** Renders the project and the version that the URL names, each with a link that removes it. */
function filters(page: PageContext, subject: Subject, typed: Typed): Part {
  const { t, rich } = page.language
  const shown: Markup[] = []
  const add = (text: Part, href: string, all: string) =>
    void shown.push(
      html`<p class="only"><span>${text}</span> <a href="${pathTo(page, href)}">${icon(page, 'x')}${all}</a></p>`,
    )
  const name = html`<bdi>${subject.project?.name}</bdi>`
  if (typed.project !== '' && !subject.isOfProject)
    add(
      rich('numbers.only.project', { name }),
      hrefOf(subject.path, typed, { project: '', version: '' }),
      t('numbers.only.all-projects'),
    )
  if (subject.version !== undefined) {
    const number = html`<bdi>${subject.version.version_number}</bdi>`
    add(
      subject.isOfProject || typed.project !== ''
        ? rich('numbers.only.version', { number })
        : rich('numbers.only.version-of', { number, name }),
      hrefOf(subject.path, typed, { version: '' }),
      t('numbers.only.all-versions'),
    )
  }
  return shown
}
