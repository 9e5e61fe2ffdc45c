// Organization settings: the projects of the organization. Members add their own projects, and remove projects with a new
// owner. A confirmation page lists who gains and who loses access.

import type { FastifyReply } from 'fastify'
import { listVisibleProjects } from '#features/catalogue/projects/lookup/project-cache.ts'
import { addProject, removeProjects } from '#features/community/organizations/projects/add-project.ts'
import { listFreeProjects } from '#features/community/organizations/queries.ts'
import { listCachedTeams } from '#features/community/teams/team-cache.ts'
import { listOrganizationProjectIds } from '#features/people/users/queries.ts'
import { ApiError, validationError } from '#lib/errors.ts'
import { viewOf } from '#lib/text/json-bytes.ts'
import { confirmFirst } from '#web/kit/forms/confirm.ts'
import type { FormState, Outcome } from '#web/kit/forms/form-page.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { listPage, withQuery } from '#web/kit/paths.ts'
import { attributes, html, type Markup, type Part } from '#web/ui/html.ts'
import { type PageContext, pathTo } from '#web/ui/page-context.ts'
import { form, selectField } from '#web/ui/parts/fields.ts'
import { sheetPart } from '#web/ui/parts/frame.ts'
import { emptyState, pager } from '#web/ui/parts/lists.ts'
import { bulkForm } from '#web/ui/parts/tables.ts'
import { toOwnProjects } from '../dashboard/dashboard-frame.ts'
import { loadRowData, projectTable, SORTS, sortProjects } from '../dashboard/project-table.ts'
import { acceptedOf, additionConsequences, removalConsequences } from '../people/moves.ts'
import { loadRows, type ShownRow } from '../people/team-data.ts'
import { type ManagedOrganization, may } from './managed-organization.ts'
import { organizationForm, showOrganizationSettings } from './settings-frame.ts'

const PAGE_SIZE = 50
const LABELS = { project_id: 'The project', ids: 'The selection', new_owner: 'The new owner' }

export function organizationProjectPages(pages: Pages): void {
  organizationForm(pages, {
    below: '/projects',
    name: 'manageOrganizationProjects',
    show: showProjects,
    commands: { add: confirmFirst(askAddition, add), remove: confirmFirst(askRemoval, remove) },
    labels: LABELS,
  })
}

const pathOf = ({ settings }: ManagedOrganization): string => `${settings}/projects`

/** Returns the projects of the organization that the viewer can see. */
async function listProjects(request: OwnRequest, { organization }: ManagedOrganization) {
  const { deps, viewer } = request
  const ids = await listOrganizationProjectIds(deps.db, viewer, [organization.id])
  const projects = ids.length === 0 ? [] : await listVisibleProjects(deps, viewer, ids)
  return toOwnProjects(request, projects)
}

/** Whether the viewer can add projects: only members have projects that they can give to the organization. */
const mayAdd = (data: ManagedOrganization): boolean => data.member !== undefined && may(data, 'ADD_PROJECT')

async function askAddition(request: OwnRequest, data: ManagedOrganization, state: FormState) {
  const { page, deps, viewer, t } = request
  const free = await listFreeProjects(deps.db, viewer.id)
  const project = free.find(({ id }) => id === state.text('project_id'))
  if (project === undefined) throw validationError('project_id', 'must be one of your own projects')
  const [cached] = await listVisibleProjects(deps, viewer, [project.id])
  const team = (await listCachedTeams(deps, [cached?.team_id ?? ''])).get(cached?.team_id ?? '')
  const names = { name: project.name, organization: data.view.name }
  const members = team === undefined ? [] : acceptedOf((await loadRows(request, team)).rows)
  const joining = acceptedOf((await loadRows(request, data.team)).rows)
  const consequences = additionConsequences(page, { ...names, members, joining })
  return { title: t('people.add.title', names), consequences, button: t('people.add'), isDanger: false }
}

async function add({ deps, viewer }: OwnRequest, data: ManagedOrganization, state: FormState): Promise<Outcome> {
  const names = { organizationName: data.organization.id, projectName: state.text('project_id') }
  await addProject(deps, viewer, names)
  return { done: 'organization-project-added' }
}

type Removal = { ids: readonly string[]; owner: ShownRow; leaving: readonly ShownRow[] }

/** @throws ApiError `validation_error` without a selection or a new owner */
async function readRemoval(request: OwnRequest, data: ManagedOrganization, state: FormState): Promise<Removal> {
  const { t } = request
  const ids = [...new Set(state.list('ids'))]
  if (ids.length === 0) {
    const message = t('publish.bulk.select')
    throw new ApiError('validation_error', message, { details: { field: 'ids', message } })
  }
  const leaving = acceptedOf((await loadRows(request, data.team)).rows)
  const owner = leaving.find(({ account_id }) => account_id === state.text('new_owner'))
  if (owner === undefined) throw validationError('new_owner', 'must be a member of the organization')
  return { ids, owner, leaving }
}

/** Shows who becomes the owner of each project, and who loses access. */
async function askRemoval(request: OwnRequest, data: ManagedOrganization, state: FormState) {
  const { page, deps, viewer, t } = request
  const { ids, owner, leaving } = await readRemoval(request, data, state)
  const projects = (await listVisibleProjects(deps, viewer, ids)).filter(
    ({ organization_id }) => organization_id === data.organization.id,
  )
  if (projects.length < ids.length) throw validationError('ids', 'contains a project that is not in the organization')
  const teams = await listCachedTeams(
    deps,
    projects.map(({ team_id }) => team_id),
  )
  // Only whether a person is in a team decides, so that the users need not be loaded again for each project.
  const known = new Map(leaving.map((row) => [row.account_id, row]))
  const consequences = projects.flatMap((project) => {
    const rows = teams.get(project.team_id)?.members.filter(({ accepted }) => accepted) ?? []
    const members = rows.flatMap(({ account_id }) => known.get(account_id) ?? [])
    return removalConsequences(page, { name: viewOf(project).name, members, leaving, owner }).join(' ')
  })
  const [first] = projects
  const name = data.view.name
  const title =
    projects.length === 1 && first !== undefined
      ? t('people.take.title', { name: viewOf(first).name, organization: name })
      : t('organizations.take.title', { count: projects.length, organization: name })
  return { title, consequences, button: t('people.take') }
}

async function remove(request: OwnRequest, data: ManagedOrganization, state: FormState): Promise<Outcome> {
  const { deps, viewer } = request
  const { ids, owner } = await readRemoval(request, data, state)
  const names = { organizationName: data.organization.id, projectNames: ids }
  await removeProjects(deps, viewer, { ...names, newOwnerId: owner.account_id })
  return { done: 'organization-projects-removed', with: { count: String(ids.length) } }
}

async function showProjects(request: OwnRequest, data: ManagedOrganization, state: FormState): Promise<FastifyReply> {
  const { page, query, t } = request
  const projects = await listProjects(request, data)
  const sort = SORTS.find((name) => name === query('sort')) ?? '-downloads'
  const path = pathOf(data)
  const { shown, pages } = listPage(request, sortProjects(projects, sort), {
    path: withQuery(path, { sort: query('sort') }),
    size: PAGE_SIZE,
  })
  const mayRemove = may(data, 'REMOVE_PROJECT')
  const rowData = await loadRowData(request, shown)
  const picked = mayRemove ? state.list('ids') : undefined
  const table = projectTable(request, shown, { ...rowData, sort, path, picked })
  const list =
    projects.length === 0
      ? emptyState(page, { icon: 'package', title: t('organizations.projects.none') })
      : mayRemove
        ? await removalForm(request, data, { state, table, action: pages.href(pages.current) })
        : table
  return showOrganizationSettings(request, data, {
    section: '/projects',
    heading: t('publish.projects'),
    text: t('organizations.projects.text', { count: projects.length }),
    form: state,
    notice: { count: Number(query('count')) || 0 },
    body: html`${list}
${pager(page, pages)}
${mayAdd(data) && (await additionPart(request, data, state))}`,
  })
}

/** The table in the form that removes several projects. */
async function removalForm(
  request: OwnRequest,
  data: ManagedOrganization,
  { state, table, action }: { state: FormState; table: Part; action: string },
): Promise<Markup> {
  const { page, t } = request
  const rows = acceptedOf((await loadRows(request, data.team)).rows)
  const owner = state.text('new_owner', rows.find(({ is_owner }) => is_owner)?.account_id)
  const options = rows.map(
    ({ account_id, user }) =>
      html`<option${attributes({ value: account_id, selected: account_id === owner })}>${user.username}</option>`,
  )
  return bulkForm(page, {
    action,
    table: html`<div id="ids">${table}</div>`,
    actions: [{ value: 'remove', label: t('people.take') }],
    fields: html`<label for="new_owner">${t('people.new-owner')}</label><select id="new_owner" name="new_owner">${options}</select>`,
  })
}

async function additionPart(request: OwnRequest, data: ManagedOrganization, state: FormState): Promise<Markup> {
  const { page, deps, viewer, t } = request
  const free = await listFreeProjects(deps.db, viewer.id)
  const content =
    free.length === 0
      ? html`<p class="soft">${t('organizations.projects.none-free')}</p>`
      : form(page, { action: pathTo(page, pathOf(data)), className: 'stack', content: chooser(page, free, state) })
  return sheetPart({
    id: 'add',
    title: t('organizations.projects.add'),
    text: t('organizations.projects.add-text'),
    content,
  })
}

function chooser(page: PageContext, free: readonly { id: string; name: string; slug: string }[], state: FormState) {
  const { t } = page.language
  const select = selectField(page, {
    name: 'project_id',
    label: t('organizations.project'),
    errors: state.errors,
    choices: free.map(({ id, name, slug }) => ({
      value: id,
      label: `${name} (${slug})`,
      isChosen: state.text('project_id') === id,
    })),
  })
  return html`${select}<div class="line"><button name="do" value="add">${t('people.add')}</button></div>`
}
