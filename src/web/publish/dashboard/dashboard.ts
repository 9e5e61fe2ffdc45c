// The dashboard: what needs attention, figures, projects; and the chooser of the project to publish in.
import type { FastifyReply } from 'fastify'
import { getSettings } from '#features/basics/settings/settings-cache.ts'
import { getProjectAsMember } from '#features/catalogue/projects/lookup/project-cache.ts'
import { dismissItem, listAttention, restoreItem } from '#features/community/attention/list-attention.ts'
import { parseItem } from '#features/community/attention/requests.ts'
import type { AttentionItem } from '#features/community/attention/views.ts'
import { listBrokenPacks } from '#features/community/packs/lost-versions.ts'
import { getBalance } from '#features/people/payouts/queries.ts'
import { excerptOf } from '#lib/markdown/plain-text.ts'
import { type FormState, formPage, type Outcome } from '#web/kit/forms/form-page.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { organizationPath, PATHS, projectPath, savedPackPath, versionPath, withQuery } from '#web/kit/paths.ts'
import { exactTime, moneyText, moneyTile, shortNumber, timeAgo, wholeNumber } from '#web/ui/format.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import type { IconName } from '#web/ui/icons.ts'
import { icon, type PageContext, pathTo } from '#web/ui/page-context.ts'
import type { Undo } from '#web/ui/parts/actions.ts'
import { buttonForm } from '#web/ui/parts/fields.ts'
import { sheetHead } from '#web/ui/parts/frame.ts'
import { emptyState } from '#web/ui/parts/lists.ts'
import { bulkForm } from '#web/ui/parts/tables.ts'
import { spark } from '#web/ui/plots/spark.ts'
import { changeText } from '../analytics/metrics.ts'
import { decline, join } from '../organization/organizations-page.ts'
import { itemLabelOf } from '../review/checklist-view.ts'
import { listOwnProjects, type OwnProject, showDashboardPage } from './dashboard-frame.ts'
import { isShown, loadOwnerFilter, type OwnerFilter, ownerSegments } from './owner-filter.ts'
import { loadRowData, projectTable, sortProjects } from './project-table.ts'
import { loadTrends, type Trends } from './trends.ts'

/** Number of projects that the dashboard shows. */
const SHOWN_MAX = 8

export function dashboardPages(pages: Pages): void {
  formPage<null>(pages, {
    path: PATHS.dashboard,
    name: 'publishDashboard',
    shows: 'Items that need attention, figures, projects',
    api: 'listAttention dismissAttention restoreAttention',
    load: async () => null,
    show: showDashboard,
    commands: { dismiss, restore, join, decline },
  })
  pages.own('GET', PATHS.publish, 'publishChooser', showChooser, { shows: 'Choice of the project for a new version' })
}

async function dismiss({ deps, viewer }: OwnRequest, _data: null, form: FormState): Promise<Outcome> {
  const item = parseItem(form.text('item'))
  await getProjectAsMember(deps, viewer, item.projectId)
  await dismissItem(deps, viewer, item)
  return { done: 'dismissed', with: { item: form.text('item') } }
}

async function restore({ deps, viewer }: OwnRequest, _data: null, form: FormState): Promise<Outcome> {
  await restoreItem(deps, viewer, parseItem(form.text('item')))
  return {}
}

async function showDashboard(request: OwnRequest, _data: null, form: FormState): Promise<FastifyReply> {
  const { page, deps, viewer, query, t } = request
  const all = await listOwnProjects(request)
  const filter = await loadOwnerFilter(request, all)
  const statuses = new Map(all.map(({ view }) => [view.id, view.status]))
  const owners = new Map(all.map(({ project }) => [project.id, project.organization_id]))
  const items = (await listAttention(deps, viewer)).filter(({ project, organization_id }) =>
    isShown(filter, organization_id ?? owners.get(project?.id ?? '') ?? null),
  )
  const packs = isShown(filter, null) ? await listBrokenPacks(deps.db, viewer.id) : []
  const projects = all.filter(({ project }) => isShown(filter, project.organization_id))
  const trends = await loadTrends(request, filter.chosen === '' ? undefined : projects.map(({ view }) => view.id))
  // The page of analytics counts the projects of every owner.
  const analytics = html`<a href="${pathTo(page, PATHS.analytics)}">${t('publish.figures.analytics')}</a>`
  const undo: Undo | undefined =
    query('done') === 'dismissed'
      ? { action: pathTo(page, PATHS.dashboard), fields: { do: 'restore', item: query('item') } }
      : undefined
  return showDashboardPage(request, {
    path: PATHS.dashboard,
    title: t('publish.dashboard'),
    facts: [t('publish.attention.count', { count: items.length + packs.length })],
    tools: html`<a class="button" href="${pathTo(page, PATHS.newProject)}">${icon(page, 'plus')}${t('publish.new.title')}</a><a class="button" href="${pathTo(page, PATHS.publish)}">${icon(page, 'upload')}${t('publish.new-version')}</a>`,
    form,
    undo,
    body: html`<section aria-labelledby="wants-h">${sheetHead({ id: 'wants-h', title: t('publish.attention'), action: ownerSegments(request, PATHS.dashboard, filter) })}
${attentionList(request, { items, packs, statuses })}</section>
<section aria-labelledby="figures-h">${sheetHead({ id: 'figures-h', title: t('publish.figures'), text: t('publish.figures.text'), action: filter.chosen === '' ? analytics : undefined, isRuled: true })}
${await figures(request, { projects, trends })}</section>
${await projectSection(request, { projects, trends, items, filter })}`,
  })
}

async function projectSection(
  request: OwnRequest,
  of: {
    projects: readonly OwnProject[]
    trends: Trends | undefined
    items: readonly AttentionItem[]
    filter: OwnerFilter
  },
): Promise<Markup> {
  const { page, t } = request
  const { projects, trends, items, filter } = of
  const path = withQuery(PATHS.dashboardProjects, { of: filter.chosen })
  const all = html`<a href="${pathTo(page, path)}">${t('publish.projects.all', { count: projects.length })}</a>`
  const shown = sortProjects(projects, '-downloads').slice(0, SHOWN_MAX)
  const list =
    shown.length === 0
      ? noProjects(page)
      : bulkForm(page, {
          action: pathTo(page, path),
          table: projectTable(request, shown, {
            ...(await loadRowData(request, shown, { items, trends: trends?.byProject ?? new Map() })),
            sort: '-downloads',
            path,
            organizations: filter.organizations,
            picked: [],
          }),
          actions: [{ value: 'choose', label: t('publish.bulk.choose') }],
        })
  return html`<section aria-labelledby="projects-h">${sheetHead({ id: 'projects-h', title: t('publish.projects'), action: all, isRuled: true })}
${list}</section>`
}

export function noProjects(page: PageContext): Markup {
  const { t } = page.language
  const action = html`<a class="button main" href="${pathTo(page, PATHS.newProject)}">${t('publish.new.title')}</a>`
  return emptyState(page, {
    icon: 'package',
    title: t('publish.projects.none'),
    text: t('publish.projects.none-text'),
    action,
  })
}

/** The page that "Publish" leads to: the projects of the user, and a new project. */
async function showChooser(request: OwnRequest): Promise<FastifyReply> {
  const { page, t } = request
  const projects = sortProjects(await listOwnProjects(request), '-updated')
  const link = (path: string, name: string) => html`<li><a href="${pathTo(page, path)}"><bdi>${name}</bdi></a></li>`
  const list = html`<ul class="stack">${projects.map(({ view }) => link(`${projectPath(view)}/versions/new`, view.name))}</ul>`
  return showDashboardPage(request, {
    path: PATHS.publish,
    title: t('publish.chooser'),
    tools: html`<a class="button main" href="${pathTo(page, PATHS.newProject)}">${icon(page, 'plus')}${t('publish.new.title')}</a>`,
    body: html`${sheetHead({ title: t('publish.chooser'), text: t('publish.chooser.text') })}
<div class="part">${projects.length === 0 ? noProjects(page) : list}</div>`,
  })
}

type Tile = { icon: IconName; label: string; value: Part; more?: Part; days?: readonly number[] }

/** Renders the tiles. */
async function figures(
  request: OwnRequest,
  { projects, trends }: { projects: readonly OwnProject[]; trends: Trends | undefined },
): Promise<Markup> {
  const { page, deps, viewer, t } = request
  const balance = await getBalance(deps.db, viewer.id, page.now)
  const { currency } = await getSettings(deps)
  const followers = projects.reduce((total, { view }) => total + view.followers, 0)
  const counted = (name: 'downloads' | 'views', symbol: IconName): Tile => {
    const label = t(`publish.figures.${name}`)
    if (trends === undefined) return { icon: symbol, label, value: '–', more: t('publish.figures.unavailable') }
    const { days, now, before } = trends[name]
    return {
      icon: symbol,
      label,
      value: shortNumber(page.language, now),
      more: changeText(page.language, before, now),
      days,
    }
  }
  const tiles: readonly Tile[] = [
    counted('downloads', 'download'),
    counted('views', 'eye'),
    { icon: 'heart', label: t('publish.figures.followers'), value: wholeNumber(page.language, followers) },
    {
      icon: 'coins',
      label: t('publish.figures.balance'),
      value: moneyTile(page.language, balance.available, currency),
      more: t('publish.figures.pending', { amount: moneyText(page.language, balance.pending, currency) }),
    },
  ]
  return html`<dl class="tiles">${tiles.map((tile) => tileOf(page, tile))}</dl>`
}

function tileOf(page: PageContext, { icon: symbol, label, value, more, days }: Tile): Markup {
  return html`<div><dt>${icon(page, symbol)}${label}</dt><dd class="big">${value}</dd>${more !== undefined && html`<dd class="change">${more}</dd>`}${days !== undefined && html`<dd>${spark(days)}</dd>`}</div>`
}

type Kind = AttentionItem['kind']

const ICONS: Readonly<Record<Kind, readonly [IconName, '' | 'bad' | 'calm']>> = {
  moderator_message: ['chat', 'bad'],
  quarantined_version: ['shield', 'bad'],
  failed_scan: ['warning', 'bad'],
  invitation: ['user-plus', 'calm'],
  paused_upload: ['pause', ''],
  incomplete_draft: ['list-checks', ''],
  scheduled: ['calendar', 'calm'],
  report_reply: ['flag', ''],
  withdrawn_dependency: ['link', ''],
  unsupported_game_version: ['alert', ''],
}

function attentionList(
  { page, account, t }: OwnRequest,
  {
    items,
    packs,
    statuses,
  }: {
    items: readonly AttentionItem[]
    packs: readonly { name: string; slug: string }[]
    /** Statuses of the user's projects by ID. */
    statuses: ReadonlyMap<string, string>
  },
): Markup {
  if (items.length + packs.length === 0) return emptyState(page, { icon: 'check', title: t('publish.attention.empty') })
  const rows = packs.map(({ name, slug }) => packRow(page, name, savedPackPath(account.username, slug)))
  return html`<ul class="wants">${items.map((item) => attentionRow(page, item, outcomeOf(item, statuses)))}${rows}</ul>`
}

/** A saved pack that nobody can install. */
function packRow(page: PageContext, name: string, path: string): Markup {
  const { language } = page
  const href = pathTo(page, path)
  const title = language.rich('publish.attention.broken-pack', { name: html`<bdi>${name}</bdi>` })
  return html`<li><span class="mark">${icon(page, 'package')}</span><div><h3><a href="${href}">${title}</a></h3><p>${language.t('publish.attention.broken-pack.text')}</p></div><div class="act"><a class="button" href="${href}">${language.t('publish.attention.broken-pack.do')}</a></div></li>
`
}

type DecisionKind = 'rejected' | 'withheld'

/** Returns how moderators have decided about the project of a message; undefined if they wait for an answer. */
function outcomeOf({ kind, project }: AttentionItem, statuses: ReadonlyMap<string, string>): DecisionKind | undefined {
  const value = kind === 'moderator_message' ? statuses.get(project?.id ?? '') : undefined
  return value === 'rejected' || value === 'withheld' ? value : undefined
}

function attentionRow(page: PageContext, item: AttentionItem, outcome: DecisionKind | undefined): Markup {
  const { t } = page.language
  const [symbol, mark] = ICONS[item.kind]
  const name = outcome === undefined ? symbol : 'gavel'
  const path = pathOf(item)
  const title = html`<a href="${pathTo(page, path)}">${titleOf(page, item, outcome)}</a>`
  const action = html`<a class="${item.kind === 'moderator_message' ? 'button main' : 'button'}" href="${pathTo(page, path)}">${t(outcome === undefined ? `publish.attention.${item.kind}.do` : 'publish.attention.decided.do')}</a>`
  return html`<li><span class="${['mark', mark].filter(Boolean).join(' ')}">${icon(page, name)}</span><div><h3>${title}</h3><p>${timeOf(page, item)}${quoteOf(page, item)}</p></div><div class="act">${item.kind === 'invitation' ? answers(page, item) : action}${item.dismissible && notNow(page, item)}</div></li>
`
}

const subjectOf = ({ project, version }: AttentionItem): string =>
  [project?.name, version?.version_number].filter(Boolean).join(' ')

function titleOf(page: PageContext, item: AttentionItem, outcome: DecisionKind | undefined): Part {
  const name = html`<bdi>${subjectOf(item)}</bdi>`
  if (item.kind === 'invitation' && item.project === null) return page.language.t('publish.attention.invitation.team')
  return page.language.rich(`publish.attention.${outcome ?? item.kind}`, { name })
}

/** The page where the user can act on the item. */
function pathOf({ kind, project, version, organization_id, report_id }: AttentionItem): string {
  if (report_id !== null) return `${PATHS.dashboard}/reports/${report_id}`
  if (project === null) return organization_id === null ? PATHS.dashboard : organizationPath(organization_id)
  const path = projectPath(project)
  switch (kind) {
    case 'moderator_message':
    case 'incomplete_draft':
      return `${path}/settings/review`
    case 'scheduled':
      return version === null ? `${path}/settings` : versionPath(path, version)
    case 'paused_upload':
      return withQuery(`${path}/versions/new`, { draft: version?.id })
    case 'unsupported_game_version':
      return `${path}/versions/new`
    case 'quarantined_version':
    case 'failed_scan':
      // A version that waits for its scan has no public page. The page to edit it shows what was found.
      return version === null ? path : `${path}/version/${version.id}/edit`
    case 'withdrawn_dependency':
      return version === null ? path : versionPath(path, version)
    default:
      return path
  }
}

function timeOf({ language, now }: PageContext, { kind, time }: AttentionItem): Part {
  const at = new Date(time)
  if (kind === 'paused_upload') return language.rich('publish.attention.stored-until', { at: exactTime(language, at) })
  return kind === 'scheduled' ? exactTime(language, at) : timeAgo(language, at, now)
}

function quoteOf(page: PageContext, { kind, quote, missing }: AttentionItem): Part {
  const { t } = page.language
  if (missing.length > 0) {
    const labels = missing.map((id) => itemLabelOf(page, id))
    return html`. ${t('publish.attention.missing', { items: new Intl.ListFormat(page.language.tag).format(labels) })}`
  }
  if (quote === null || quote === '') return null
  if (kind === 'unsupported_game_version') return html`: ${t('publish.attention.version', { version: quote })}`
  const isMarkdown = kind === 'moderator_message' || kind === 'report_reply'
  return html`: <q>${isMarkdown ? excerptOf(quote, QUOTE_MAX) : excerpt(quote)}</q>`
}

const QUOTE_MAX = 200

function excerpt(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  return line.length <= QUOTE_MAX ? line : `${line.slice(0, QUOTE_MAX).toWellFormed()}…`
}

const action = (page: PageContext): string => pathTo(page, PATHS.dashboard)

function answers(page: PageContext, { team_id }: AttentionItem): Part {
  if (team_id === null) return null
  const { t } = page.language
  const button = (value: string, text: string) =>
    buttonForm(page, { action: action(page), text, fields: { do: value, team: team_id } })
  return [button('join', t('publish.attention.accept')), button('decline', t('publish.attention.decline'))]
}

function notNow(page: PageContext, item: AttentionItem): Part {
  const { t } = page.language
  const text = html`${t('publish.attention.not-now')}<span class="vh">: ${subjectOf(item)}</span>`
  return buttonForm(page, { action: action(page), text, kind: 'plain', fields: { do: 'dismiss', item: item.id } })
}
