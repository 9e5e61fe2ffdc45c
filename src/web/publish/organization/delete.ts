// Organization settings: delete the organization. Its owner becomes the owner of its projects.

import type { FastifyReply } from 'fastify'
import { listVisibleProjects } from '#features/catalogue/projects/lookup/project-cache.ts'
import { deleteOrganization } from '#features/community/organizations/delete-organization.ts'
import { listOrganizationProjectIds } from '#features/people/users/queries.ts'
import { listCachedUsers } from '#features/people/users/user-cache.ts'
import { validationError } from '#lib/errors.ts'
import { viewOf } from '#lib/text/json-bytes.ts'
import type { FormState, Outcome } from '#web/kit/forms/form-page.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { listPage, PATHS, projectPath } from '#web/kit/paths.ts'
import { tile } from '#web/site/lists/rows.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import { pathTo } from '#web/ui/page-context.ts'
import { sheetPart } from '#web/ui/parts/frame.ts'
import { pager } from '#web/ui/parts/lists.ts'
import { listTable, nameCell } from '#web/ui/parts/tables.ts'
import { deletionForm } from '../settings.ts'
import { type ManagedOrganization, may } from './managed-organization.ts'
import { organizationForm, showOrganizationSettings } from './settings-frame.ts'

const PAGE_SIZE = 50

export function organizationDeletionPages(pages: Pages): void {
  organizationForm(pages, {
    below: '/delete',
    name: 'manageOrganizationDeletion',
    api: 'deleteOrganization',
    show: showDeletion,
    commands: { delete: remove },
    labels: { name: 'The name' },
  })
}

async function remove(
  { deps, viewer }: OwnRequest,
  { organization: { id, slug } }: ManagedOrganization,
  state: FormState,
): Promise<Outcome> {
  if (state.text('name').trim() !== slug) throw validationError('name', `must be ${slug}`)
  await deleteOrganization(deps, viewer, id)
  return { done: 'organization-deleted', path: PATHS.dashboardOrganizations }
}

async function showDeletion(request: OwnRequest, data: ManagedOrganization, state: FormState): Promise<FastifyReply> {
  const { page, deps, viewer, t } = request
  const { organization, view, settings, team } = data
  const ids = await listOrganizationProjectIds(deps.db, viewer, [organization.id])
  const ownerId = team.members.find(({ is_owner }) => is_owner)?.account_id ?? ''
  const [owner] = await listCachedUsers(deps, [ownerId])
  const others = team.members.filter(({ accepted, account_id }) => accepted && account_id !== ownerId).length
  const names = { count: ids.length, owner: owner?.username ?? '' }
  const effects = [t('organizations.delete.members', { count: others }), t('organizations.delete.url')]
  const content = deletionForm(page, view, { settings, state, effects })
  const isEditable = may(data, 'DELETE_ORGANIZATION') || state.isSubmitted
  return showOrganizationSettings(request, data, {
    section: '/delete',
    heading: t('organizations.delete'),
    text: t('organizations.delete.projects', names),
    needs: 'DELETE_ORGANIZATION',
    form: state,
    body: isEditable && [
      data.member?.is_owner === true &&
        others > 0 &&
        sheetPart({
          id: 'instead',
          text: t('organizations.delete.instead-text'),
          title: t('organizations.delete.instead'),
          content: html`<a class="button" href="${pathTo(page, `${settings}/members`)}#owner">${t('people.give')}</a>`,
        }),
      ids.length > 0 && (await heritage(request, data, { ids, owner: names.owner })),
      sheetPart({ id: 'delete', title: t('organizations.delete.heading'), content }),
    ],
  })
}

/** Lists the projects with their new owner. */
async function heritage(
  request: OwnRequest,
  { settings }: ManagedOrganization,
  { ids, owner }: { ids: readonly string[]; owner: string },
): Promise<Part> {
  const { page, deps, viewer, t } = request
  const { shown, pages } = listPage(request, ids, { path: `${settings}/delete`, size: PAGE_SIZE })
  const views = (await listVisibleProjects(deps, viewer, shown)).map(viewOf)
  const table: Markup = listTable(page, {
    caption: t('organizations.delete.heirs'),
    columns: [{ label: t('organizations.project') }, { label: t('people.new-owner') }],
    rows: views.map((view) => ({
      cells: [
        nameCell({
          tile: tile(page, { iconUrl: view.icon_url, rawUrl: view.raw_icon_url }, 27),
          href: pathTo(page, projectPath(view)),
          name: view.name,
        }),
        html`<bdi>${owner}</bdi>`,
      ],
    })),
  })
  return [table, pager(page, pages)]
}
