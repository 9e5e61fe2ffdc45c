// The organizations of the user, invitations to organizations, and a new organization.
import type { FastifyReply } from 'fastify'
import { mustVerifyEmail } from '#features/basics/access/email-policy.ts'
import { imageUrl } from '#features/basics/images/hosted-image.ts'
import { getQuota } from '#features/basics/limits/quota.ts'
import { createOrganization } from '#features/community/organizations/create-organization.ts'
import {
  getOrganizationRow,
  listOwnOrganizations,
  type OwnOrganization,
} from '#features/community/organizations/queries.ts'
import { checkNewOrganization, NewOrganization } from '#features/community/organizations/requests.ts'
import { suggestOrganizationSlug } from '#features/community/organizations/suggest-slug.ts'
import { joinTeam, removeMember } from '#features/community/teams/edit-member.ts'
import { parseId } from '#lib/ids.ts'
import { type FormState, formPage, type Outcome } from '#web/kit/forms/form-page.ts'
import { checkValues } from '#web/kit/forms/read-form.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { organizationPath, PATHS } from '#web/kit/paths.ts'
import { showWork } from '#web/kit/work-page.ts'
import { wholeNumber } from '#web/ui/format.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import { icon, pathTo } from '#web/ui/page-context.ts'
import { formPart } from '#web/ui/parts/actions.ts'
import { buttonForm } from '#web/ui/parts/fields.ts'
import { sheetHead } from '#web/ui/parts/frame.ts'
import { emptyState, face } from '#web/ui/parts/lists.ts'
import { listTable, nameCell } from '#web/ui/parts/tables.ts'
import { showDashboardPage } from '../dashboard/dashboard-frame.ts'
import { limitNotes } from '../limits.ts'
import { ORGANIZATION_FIELDS } from './general.ts'

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

export function newOrganizationPage(pages: Pages): void {
  formPage<null>(pages, {
    path: PATHS.newOrganization,
    name: 'publishNewOrganization',
    api: 'createOrganization getOrganizationLimit',
    load: async () => null,
    show: showNewOrganization,
    commands: {
      create,
      // Shows the page again, with a URL that is free.
      check: async (request, _data, state) => showNewOrganization(request, null, state),
    },
    labels: ORGANIZATION_FIELDS.said,
  })
}

async function create({ deps, viewer }: OwnRequest, _data: null, state: FormState): Promise<Outcome> {
  const [name, slug] = [state.text('name'), state.text('slug').trim()]
  const fields = checkValues(NewOrganization, {
    name,
    slug: slug === '' ? await suggestOrganizationSlug(deps.db, name) : slug,
    description: state.text('description'),
  })
  const id = await createOrganization(deps, viewer, checkNewOrganization(fields))
  const row = await getOrganizationRow(deps.db, id)
  return { done: 'organization-created', path: `${organizationPath(row.slug)}/settings/members` }
}

async function showNewOrganization(request: OwnRequest, _data: null, state: FormState): Promise<FastifyReply> {
  const { page, deps, viewer, t } = request
  const name = state.text('name').trim()
  const suggestion = name === '' ? '' : await suggestOrganizationSlug(deps.db, state.text('slug').trim() || name)
  const isTaken = state.errors.some(({ field }) => field === 'slug')
  const content = html`${ORGANIZATION_FIELDS.controls(
    page,
    state,
    {},
    {
      name: {
        hasFocus: !state.isSubmitted,
        after: html`<div class="line"><button class="tight" name="do" value="check" formnovalidate>${t('publish.new.check')}</button></div>`,
      },
      slug: {
        suggestion,
        isOptional: true,
        hint:
          isTaken && suggestion !== '' ? t('publish.new.slug-free', { slug: suggestion }) : t('publish.new.slug-hint'),
      },
    },
  )}
<div class="line"><a class="button" href="${pathTo(page, PATHS.dashboardOrganizations)}">${t('work.cancel')}</a><button class="main" name="do" value="create">${t('organizations.create')}</button></div>`
  return showWork(request, {
    title: t('organizations.new'),
    subject: {
      name: t('organizations.new'),
      crumbs: [{ path: PATHS.dashboardOrganizations, label: t('organizations.title') }],
    },
    form: state,
    notes: await limitNotes(request, {
      kind: 'organizations',
      unverified: mustVerifyEmail(deps, viewer) && t('organizations.new.unverified'),
      full: (max) => t('organizations.new.full', { max }),
    }),
    body: html`${sheetHead({ title: t('organizations.new.heading'), text: t('organizations.new.text') })}
${formPart(page, { id: 'organization', path: PATHS.newOrganization, content })}`,
  })
}
