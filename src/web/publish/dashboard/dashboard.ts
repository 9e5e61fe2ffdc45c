// The dashboard: what needs attention, figures, projects; and the chooser of the project to publish in.
import type { FastifyReply } from 'fastify'
import { getProjectAsMember } from '#features/catalogue/projects/lookup/project-cache.ts'
import { dismissItem, listAttention, restoreItem } from '#features/community/attention/list-attention.ts'
import { parseItem } from '#features/community/attention/requests.ts'
import type { AttentionItem } from '#features/community/attention/views.ts'
import { type FormState, formPage, type Outcome } from '#web/kit/forms/form-page.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS, projectPath, withQuery } from '#web/kit/paths.ts'
import { html, type Markup } from '#web/ui/html.ts'
import { icon, type PageContext, pathTo } from '#web/ui/page-context.ts'
import type { Undo } from '#web/ui/parts/actions.ts'
import { sheetHead } from '#web/ui/parts/frame.ts'
import { emptyState } from '#web/ui/parts/lists.ts'
import { bulkForm } from '#web/ui/parts/tables.ts'
import { decline, join } from '../organization/organizations-page.ts'
import { attentionList } from './attention-view.ts'
import { listOwnProjects, type OwnProject, showDashboardPage } from './dashboard-frame.ts'
import { figures } from './figures.ts'
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
  const owners = new Map(all.map(({ project }) => [project.id, project.organization_id]))
  const items = (await listAttention(deps, viewer)).filter(({ project, organization_id }) =>
    isShown(filter, organization_id ?? owners.get(project?.id ?? '') ?? null),
  )
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
    facts: [t('publish.attention.count', { count: items.length })],
    tools: html`<a class="button" href="${pathTo(page, PATHS.newProject)}">${icon(page, 'plus')}${t('publish.new.title')}</a><a class="button" href="${pathTo(page, PATHS.publish)}">${icon(page, 'upload')}${t('publish.new-version')}</a>`,
    form,
    undo,
    body: html`<section aria-labelledby="wants-h">${sheetHead({ id: 'wants-h', title: t('publish.attention'), action: ownerSegments(request, PATHS.dashboard, filter) })}
${attentionList(page, items)}</section>
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
