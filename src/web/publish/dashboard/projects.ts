// All projects of the user and of their organizations: sort order and page in the URL, and changes of several projects.
// A second page shows the changes of each project before they are applied to all of them or to none.

import type { FastifyReply } from 'fastify'
import { ProjectBulkPatch } from '#features/catalogue/projects/edit/requests.ts'
import { type ProjectChange, planUpdates, updateProjects } from '#features/catalogue/projects/edit/update-projects.ts'
import { listAttention } from '#features/community/attention/list-attention.ts'
import { validationError } from '#lib/errors.ts'
import { offered, type Taxonomy } from '#taxonomy/taxonomy.ts'
import { type FormState, formPage, type Outcome } from '#web/kit/forms/form-page.ts'
import { checkValues, refusedField } from '#web/kit/forms/read-form.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { listPage, PATHS, withQuery } from '#web/kit/paths.ts'
import { linkName, tagName, tagNames } from '#web/site/names.ts'
import { attributes, html, type Markup, type Part } from '#web/ui/html.ts'
import type { Language } from '#web/ui/languages.ts'
import { icon, type PageContext, pathTo } from '#web/ui/page-context.ts'
import { form, hiddenField, selectField, textField } from '#web/ui/parts/fields.ts'
import { sheetHead, sheetPart } from '#web/ui/parts/frame.ts'
import { pager } from '#web/ui/parts/lists.ts'
import { listTable } from '#web/ui/parts/tables.ts'
import { noProjects } from './dashboard.ts'
import { listOwnProjects, showDashboardPage } from './dashboard-frame.ts'
import { isShown, loadOwnerFilter, ownerSegments } from './owner-filter.ts'
import { loadRowData, projectTable, SORTS, sortProjects } from './project-table.ts'

const PAGE_SIZE = 50
const LABELS = {
  ids: 'The selection',
  add_categories: 'The category',
  remove_categories: 'The category',
  link_urls: 'The URL',
}

export function ownProjectsPages(pages: Pages): void {
  formPage<null>(pages, {
    path: PATHS.dashboardProjects,
    name: 'publishProjects',
    api: 'listAllUserProjects updateProjects',
    load: async () => null,
    show: showProjects,
    commands: { review, apply, choose },
    labels: LABELS,
  })
}

/** Shows the projects that were selected on the dashboard, with the fields of their change. */
async function choose(request: OwnRequest, data: null, state: FormState): Promise<Outcome> {
  if (state.list('ids').length === 0) throw validationError('ids', request.page.language.t('publish.bulk.select'))
  return showProjects(request, data, state)
}

/** Shows the changes of each project. */
async function review(request: OwnRequest, _data: null, state: FormState): Promise<Outcome> {
  const { page, deps, viewer, t } = request
  const { ids, patch } = readChange(request, state)
  const changed = await planUpdates(deps, viewer, { ids, patch })
  return showDashboardPage(request, {
    path: PATHS.dashboardProjects,
    title: t('publish.bulk.title'),
    body: html`${sheetHead({ title: t('publish.bulk.title'), text: t('publish.bulk.count', { count: changed.length }) })}
${changed.length > 0 && changeTable(page, changed)}
${applyForm(page, state, changed)}`,
  })
}

async function apply(request: OwnRequest, _data: null, state: FormState): Promise<Outcome> {
  const { deps, viewer } = request
  await updateProjects(deps, viewer, readChange(request, state))
  return { done: 'saved', path: PATHS.dashboardProjects }
}

/** @throws ApiError `validation_error` without a selection or without a change */
function readChange({ page }: OwnRequest, state: FormState): { ids: string[]; patch: ProjectBulkPatch } {
  const { t } = page.language
  const ids = [...state.list('ids')]
  if (ids.length === 0) throw refusedField('ids', t('publish.bulk.select'))
  const [add, remove, platform] = ['add_categories', 'remove_categories', 'platform'].map((name) => state.text(name))
  const url = state.text('link_urls').trim()
  const patch = {
    ...(add ? { add_categories: [add] } : {}),
    ...(remove ? { remove_categories: [remove] } : {}),
    ...(platform ? { link_urls: { [platform]: url === '' ? null : url } } : {}),
  }
  if (Object.keys(patch).length === 0) throw refusedField('add_categories', t('publish.bulk.nothing'))
  return { ids, patch: checkValues(ProjectBulkPatch, patch) }
}

function changeTable(page: PageContext, changes: readonly ProjectChange[]): Markup {
  const { t } = page.language
  return listTable(page, {
    caption: t('publish.bulk.title'),
    columns: [
      { label: t('publish.column.name') },
      { label: t('publish.bulk.before') },
      { label: t('publish.bulk.after') },
    ],
    rows: changes.map(({ name, before, after }) => ({
      cells: [
        html`<bdi>${name}</bdi>`,
        html`<del>${valuesText(page.language, before, after)}</del>`,
        html`<ins>${valuesText(page.language, after, before)}</ins>`,
      ],
    })),
  })
}

/** Returns the categories and links that the other values do not have. */
function valuesText(language: Language, values: ProjectChange['before'], others: ProjectChange['before']): string {
  const categories = values.categories.filter((name) => !others.categories.includes(name))
  const links = Object.entries(values.link_urls).filter(([platform, url]) => others.link_urls[platform] !== url)
  return (
    [
      ...tagNames(language, categories),
      ...links.map(([platform, url]) => `${linkName(language, platform)}: ${url}`),
    ].join(', ') || '–'
  )
}

function applyForm(page: PageContext, state: FormState, changes: readonly ProjectChange[]): Markup {
  const { t } = page.language
  const repeated = ['add_categories', 'remove_categories', 'platform', 'link_urls'].map((name) =>
    hiddenField(name, state.text(name)),
  )
  const ids = changes.map(({ id }) => hiddenField('ids', id))
  const button =
    changes.length > 0 &&
    html`<button class="main" name="do" value="apply">${t('publish.bulk.apply', { count: changes.length })}</button>`
  const content = html`${repeated}${ids}<div class="line"><a class="button" href="${pathTo(page, PATHS.dashboardProjects)}">${t('work.cancel')}</a>${button}</div>`
  return sheetPart({ id: 'apply', content: form(page, { action: pathTo(page, PATHS.dashboardProjects), content }) })
}

async function showProjects(request: OwnRequest, _data: null, state: FormState): Promise<FastifyReply> {
  const { page, query, deps, viewer, t } = request
  const all = await listOwnProjects(request)
  const filter = await loadOwnerFilter(request, all)
  const projects = all.filter(({ project }) => isShown(filter, project.organization_id))
  const sort = SORTS.find((name) => name === query('sort')) ?? '-downloads'
  const path = withQuery(PATHS.dashboardProjects, { of: filter.chosen })
  const { shown, pages } = listPage(request, sortProjects(projects, sort), {
    path: withQuery(path, { sort }),
    size: PAGE_SIZE,
  })
  const table = projectTable(request, shown, {
    ...(await loadRowData(request, shown, { items: await listAttention(deps, viewer) })),
    sort,
    path,
    organizations: filter.organizations,
    picked: state.list('ids'),
  })
  return showDashboardPage(request, {
    path: PATHS.dashboardProjects,
    title: t('publish.projects'),
    facts: [t('publish.projects.count', { count: projects.length })],
    tools: html`<a class="button" href="${pathTo(page, PATHS.newProject)}">${icon(page, 'plus')}${t('publish.new.title')}</a>`,
    form: state,
    body: html`${sheetHead({ title: t('publish.projects'), text: t('publish.projects.text'), action: ownerSegments(request, PATHS.dashboardProjects, filter) })}
${projects.length === 0 ? noProjects(page) : bulkEdit(page, deps.taxonomy, { state, table })}
${pager(page, pages)}`,
  })
}

/** The table in the form that changes several projects. */
function bulkEdit(page: PageContext, taxonomy: Taxonomy, { state, table }: { state: FormState; table: Part }): Markup {
  const { t } = page.language
  const { errors } = state
  const select = (name: string, label: string, values: Iterable<string>, nameOf = tagName) =>
    selectField(page, {
      name,
      label,
      errors,
      isOptional: true,
      choices: [
        { value: '', label: t('publish.bulk.none') },
        ...[...values].map((value) => ({
          value,
          label: nameOf(page.language, value),
          isChosen: state.text(name) === value,
        })),
      ],
    })
  const categories = [...taxonomy.categoryNames].sort()
  const fields = html`<div class="twofold">${select('add_categories', t('publish.bulk.add'), categories)}${select('remove_categories', t('publish.bulk.remove'), categories)}${select(
    'platform',
    t('publish.bulk.link'),
    offered(taxonomy.linkPlatforms.values()).map(({ name }) => name),
    linkName,
  )}${textField(page, { name: 'link_urls', label: t('publish.bulk.url'), hint: t('publish.bulk.url-hint'), value: state.text('link_urls'), type: 'url', isOptional: true, errors })}</div>
<div class="line"><button class="main" name="do" value="review">${t('publish.bulk.review')}</button></div>`
  // Open after a selection on the dashboard, and after an error. The style sheet opens it for selected rows.
  const isOpen = state.isSubmitted || errors.length > 0
  const content = html`<details${attributes({ class: 'choosing', open: isOpen })}><summary>${t('publish.bulk.title')}</summary><div class="stack"><p class="soft small">${t('publish.bulk.text')}</p>${fields}</div></details>`
  return form(page, {
    action: pathTo(page, PATHS.dashboardProjects),
    content: html`<div id="ids">${table}</div>${sheetPart({ id: 'bulk', content })}`,
  })
}
