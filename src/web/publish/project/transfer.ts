// Project settings: the organization that owns the project, and the transfer to another owner.

import type { FastifyReply } from 'fastify'
import { hasOrganizationPermission } from '#features/basics/access/permissions.ts'
import { isAdmin } from '#features/basics/access/viewer.ts'
import { listOwningTeams } from '#features/community/organizations/organization-cache.ts'
import { addProject, removeProjects } from '#features/community/organizations/projects/add-project.ts'
import { listOrganizationsWith } from '#features/community/organizations/queries.ts'
import { listCachedTeams } from '#features/community/teams/team-cache.ts'
import { transferOwnership } from '#features/community/teams/transfer-ownership.ts'
import { notFound, validationError } from '#lib/errors.ts'
import type { Taxonomy } from '#taxonomy/taxonomy.ts'
import { confirmFirst } from '#web/kit/forms/confirm.ts'
import type { FormState, Outcome } from '#web/kit/forms/form-page.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { html, type Markup } from '#web/ui/html.ts'
import { pathTo } from '#web/ui/page-context.ts'
import { form, selectField } from '#web/ui/parts/fields.ts'
import { sheetPart } from '#web/ui/parts/frame.ts'
import { acceptedOf, additionConsequences, memberSelect, removalConsequences } from '../people/moves.ts'
import { loadRows, type ShownRow } from '../people/team-data.ts'
import { loadManagedProject, type ManagedProject } from './managed-project.ts'
import { projectFormOf, showProjectSettings } from './settings-frame.ts'

type Owned = ManagedProject & {
  members: readonly ShownRow[]
  /** Members of the organization that owns the project. */
  owning: readonly ShownRow[]
  /** Organizations to which the viewer can add projects. */
  organizations: readonly { id: string; name: string }[]
  isOwner: boolean
  mayRemove: boolean
}

const LABELS = { user_id: 'The new owner', new_owner: 'The new owner', organization: 'The organization' }

export function transferPages(pages: Pages, taxonomy: Taxonomy): void {
  for (const page of [
    {
      below: '/settings/organization',
      name: 'manageOrganization',
      shows: 'Moving the project into an organization or out of it',
      api: 'addOrganizationProject removeOrganizationProject',
      show: showOrganization,
    },
    {
      below: '/settings/transfer',
      name: 'manageTransfer',
      shows: 'A new owner',
      api: 'transferTeamOwnership',
      show: showTransfer,
    },
  ])
    projectFormOf<Owned>(pages, taxonomy, {
      ...page,
      load: loadOwned,
      commands: {
        give: confirmFirst(askMember, giveToMember),
        add: confirmFirst(askOrganization, giveToOrganization),
        leave: confirmFirst(askRemoval, takeFromOrganization),
      },
      labels: LABELS,
    })
}

async function loadOwned(request: OwnRequest): Promise<Owned> {
  const { deps, viewer } = request
  const data = await loadManagedProject(request)
  const { project, membership } = data
  const team = (await listCachedTeams(deps, [project.team_id])).get(project.team_id)
  if (team === undefined) throw notFound('project')
  const owningTeam = (await listOwningTeams(deps, [project])).get(project.organization_id ?? '')
  const { rows } = await loadRows(request, team, owningTeam)
  const owning = owningTeam === undefined ? [] : (await loadRows(request, owningTeam)).rows
  const own = owning.find(({ account_id }) => account_id === viewer.id)
  return {
    ...data,
    members: acceptedOf(rows),
    owning: acceptedOf(owning),
    organizations: await listOrganizationsWith(deps.db, viewer.id, 'ADD_PROJECT'),
    isOwner: membership.project?.is_owner === true || isAdmin(viewer),
    mayRemove:
      isAdmin(viewer) ||
      (own?.accepted === true && hasOrganizationPermission(own.organization_permissions ?? 0, 'REMOVE_PROJECT')),
  }
}

function askMember({ page }: OwnRequest, data: Owned, state: FormState) {
  const member = data.members.find(({ account_id }) => account_id === state.text('user_id'))
  if (member === undefined) throw validationError('user_id', 'must be a member of the project')
  const { t } = page.language
  const names = { member: member.user.username, name: data.view.name }
  const consequences = [t('people.give.consequence', names), t('people.give.stay')]
  return { title: t('people.give.title', names), consequences, button: t('people.give') }
}

async function giveToMember({ deps, viewer }: OwnRequest, data: Owned, state: FormState): Promise<Outcome> {
  await transferOwnership(deps, viewer, { teamId: data.project.team_id, accountId: state.text('user_id') })
  return { done: 'owner-changed' }
}

/** Names who gains and who loses access when the project joins an organization. */
async function askOrganization(request: OwnRequest, data: Owned, state: FormState) {
  const { deps, page, t } = request
  const organization = data.organizations.find(({ id }) => id === state.text('organization'))
  if (organization === undefined) throw validationError('organization', 'must be one of your organizations')
  const team = (await listOwningTeams(deps, [{ organization_id: organization.id }])).get(organization.id)
  const joining = team === undefined ? [] : acceptedOf((await loadRows(request, team)).rows)
  const names = { organization: organization.name, name: data.view.name }
  const consequences = additionConsequences(page, { ...names, members: data.members, joining })
  return { title: t('people.add.title', names), consequences, button: t('people.add') }
}

async function giveToOrganization({ deps, viewer }: OwnRequest, data: Owned, state: FormState): Promise<Outcome> {
  const names = { organizationName: state.text('organization'), projectName: data.project.id }
  await addProject(deps, viewer, names)
  return { done: 'organization-changed' }
}

function askRemoval({ page, t }: OwnRequest, data: Owned, state: FormState) {
  const { members, owning: leaving, view } = data
  const owner = leaving.find(({ account_id }) => account_id === state.text('new_owner'))
  if (owner === undefined) throw validationError('new_owner', 'must be a member of the organization')
  const names = { organization: data.organization ?? '', name: view.name, member: owner.user.username }
  const consequences = removalConsequences(page, { name: view.name, members, leaving, owner })
  return { title: t('people.take.title', names), consequences, button: t('people.take') }
}

async function takeFromOrganization({ deps, viewer }: OwnRequest, data: Owned, state: FormState): Promise<Outcome> {
  const { project } = data
  await removeProjects(deps, viewer, {
    organizationName: project.organization_id ?? '',
    projectNames: [project.id],
    newOwnerId: state.text('new_owner'),
  })
  return { done: 'organization-changed' }
}

function showOrganization(request: OwnRequest, data: Owned, state: FormState): Promise<FastifyReply> {
  const { t } = request
  return showProjectSettings(request, data, {
    section: '/organization',
    heading: t('people.organization'),
    text: t('people.organization.text'),
    form: state,
    body: organizationPart(request, data, state),
  })
}

/** Adds the project to an organization, or removes it from its organization. */
function organizationPart(request: OwnRequest, data: Owned, state: FormState): Markup {
  const { t } = request
  const { organization, organizations } = data
  if (organization !== undefined) {
    const text = html`<p>${t('people.owned-by', { name: organization })}</p>`
    if (!data.mayRemove)
      return sheetPart({ id: 'owning', content: html`${text}<p class="soft">${t('people.take.needs')}</p>` })
    const select = memberSelect(request.page, { name: 'new_owner', rows: data.owning, state })
    return sheetPart({
      id: 'owning',
      content: html`${text}${chooser(request, data, { select, command: 'leave', label: t('people.take') })}`,
    })
  }
  if (!data.isOwner) return sheetPart({ id: 'owning', content: html`<p class="soft">${t('people.add.needs')}</p>` })
  if (organizations.length === 0)
    return sheetPart({ id: 'owning', content: html`<p class="soft">${t('people.add.none')}</p>` })
  const select = selectField(request.page, {
    name: 'organization',
    label: t('people.organization'),
    errors: state.errors,
    choices: organizations.map(({ id, name }) => ({
      value: id,
      label: name,
      isChosen: state.text('organization') === id,
    })),
  })
  return sheetPart({
    id: 'owning',
    content: chooser(request, data, { select, command: 'add', label: t('people.add') }),
  })
}

function showTransfer(request: OwnRequest, data: Owned, state: FormState): Promise<FastifyReply> {
  const { t } = request
  const others = data.members.filter(({ is_owner }) => !is_owner)
  const isFree = data.project.organization_id === null
  const select = memberSelect(request.page, { name: 'user_id', rows: others, state })
  const body = !isFree
    ? html`<p class="soft">${t('people.give.organization', { name: data.organization ?? '' })}</p>`
    : !data.isOwner
      ? html`<p class="soft">${t('people.give.needs')}</p>`
      : others.length === 0
        ? html`<p class="soft">${t('people.give.none')}</p>`
        : chooser(request, data, { select, command: 'give', label: t('people.give') })
  return showProjectSettings(request, data, {
    section: '/transfer',
    heading: t('people.transfer'),
    text: t('people.transfer.text'),
    form: state,
    body: sheetPart({ id: 'transfer', content: body }),
  })
}

function chooser(
  { page }: OwnRequest,
  data: Owned,
  { select, command, label }: { select: Markup; command: string; label: string },
): Markup {
  const below = command === 'give' ? 'transfer' : 'organization'
  return form(page, {
    action: pathTo(page, `${data.settings}/${below}`),
    className: 'stack',
    content: html`${select}<div class="line"><button name="do" value="${command}">${label}</button></div>`,
  })
}
