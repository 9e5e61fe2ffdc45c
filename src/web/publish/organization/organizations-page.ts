// The organizations of the user, and invitations to organizations.
import type { FastifyReply } from 'fastify'
import { imageUrl } from '#features/basics/images/hosted-image.ts'
import { getQuota } from '#features/basics/limits/quota.ts'
import { listOwnOrganizations, type OwnOrganization } from '#features/community/organizations/queries.ts'
import { joinTeam, removeMember } from '#features/community/teams/edit-member.ts'
import { parseId } from '#lib/ids.ts'
import { type FormState, formPage, type Outcome } from '#web/kit/forms/form-page.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { organizationPath, PATHS } from '#web/kit/paths.ts'
import { wholeNumber } from '#web/ui/format.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import { icon, pathTo } from '#web/ui/page-context.ts'
import { buttonForm } from '#web/ui/parts/fields.ts'
import { sheetHead } from '#web/ui/parts/frame.ts'
import { emptyState, face } from '#web/ui/parts/lists.ts'
import { listTable, nameCell } from '#web/ui/parts/tables.ts'
import { showDashboardPage } from '../dashboard/dashboard-frame.ts'

export function ownOrganizationsPage(pages: Pages): void {
  formPage<null>(pages, {
    path: PATHS.dashboardOrganizations,
    name: 'ownOrganizations',
    load: async () => null,
    show: showOrganizations,
    commands: { join, decline },
  })
}

/** Accepts the invitation to the team in the form. */
export async function join({ deps, viewer }: OwnRequest, _data: null, form: FormState): Promise<Outcome> {
  await joinTeam(deps, viewer, parseId(form.text('team'), 'team'))
  return { done: 'joined' }
}

/** Declines the invitation to the team in the form. */
export async function decline({ deps, viewer }: OwnRequest, _data: null, form: FormState): Promise<Outcome> {
  await removeMember(deps, viewer, { teamId: parseId(form.text('team'), 'team'), accountId: viewer.id })
  return { done: 'declined' }
}

async function showOrganizations(request: OwnRequest, _data: null, form: FormState): Promise<FastifyReply> {
  const { page, deps, viewer, t } = request
  const all = await listOwnOrganizations(deps.db, viewer.id)
  const { current, max } = await getQuota(deps.db, deps.config, viewer, 'organizations')
  const own = all.filter(({ accepted }) => accepted)
  const create = html`<a class="button main" href="${pathTo(page, PATHS.newOrganization)}">${icon(page, 'plus')}${t('organizations.new')}</a>`
  const none = emptyState(page, {
    icon: 'building',
    title: t('organizations.none'),
    text: t('organizations.none-text'),
    action: create,
  })
  return showDashboardPage(request, {
    path: PATHS.dashboardOrganizations,
    title: t('organizations.title'),
    facts: [
      t('organizations.count', { count: own.length }),
      max !== null && t('organizations.limit', { count: current, max }),
    ],
    ...(own.length === 0 ? {} : { tools: create }),
    form,
    body: html`${sheetHead({ title: t('organizations.title'), text: t('organizations.text') })}
${invitations(
  request,
  all.filter(({ accepted }) => !accepted),
)}
${own.length === 0 ? none : organizationTable(request, own)}`,
  })
}

const portrait = ({ deps }: OwnRequest, { name, icon_url }: OwnOrganization): Markup =>
  face({ name, url: imageUrl(deps.config, icon_url), isSquare: true })

/** The organizations that have invited the user. */
function invitations(request: OwnRequest, rows: readonly OwnOrganization[]): Part {
  const { page, t } = request
  if (rows.length === 0) return false
  const button = (command: string, text: string, { name, team_id }: OwnOrganization) =>
    buttonForm(page, {
      action: pathTo(page, PATHS.dashboardOrganizations),
      text: html`${text}<span class="vh">: ${name}</span>`,
      fields: { do: command, team: team_id },
    })
  const items = rows.map((row) => {
    const name = html`<a href="${pathTo(page, organizationPath(row.slug))}"><bdi>${row.name}</bdi></a>`
    return html`<li><span class="mark calm">${icon(page, 'user-plus')}</span><div><h3>${page.language.rich('publish.attention.invitation', { name })}</h3><p>${t('organizations.members', { count: row.members })}</p></div><div class="act">${button('join', t('publish.attention.accept'), row)}${button('decline', t('publish.attention.decline'), row)}</div></li>
`
  })
  return html`<ul class="wants">${items}</ul>`
}

function organizationTable(request: OwnRequest, rows: readonly OwnOrganization[]): Markup {
  const { page, language, t } = request
  return listTable(page, {
    caption: t('organizations.title'),
    columns: [
      { label: t('publish.column.name') },
      { label: t('people.role') },
      { label: t('people.members'), isNumber: true, room: 'mid' },
      { label: t('publish.projects'), isNumber: true, room: 'mid' },
      { label: t('organizations.invitations'), isNumber: true, room: 'far' },
    ],
    rows: rows.map((row) => {
      const { slug, name, role, members, projects, invitations } = row
      return {
        cells: [
          nameCell({
            tile: portrait(request, row),
            href: pathTo(page, `${organizationPath(slug)}/settings`),
            name,
            least: [t('organizations.members', { count: members }), t('publish.projects.count', { count: projects })],
            ...(invitations === 0 ? {} : { near: t('organizations.open-invitations', { count: invitations }) }),
          }),
          html`<bdi>${role}</bdi>`,
          wholeNumber(language, members),
          wholeNumber(language, projects),
          wholeNumber(language, invitations),
        ],
      }
    }),
  })
}
