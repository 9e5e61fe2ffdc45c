// Organization settings: members with their permissions in the organization and in its projects, invitations, and the
// transfer of the ownership.

import type { FastifyReply } from 'fastify'
import { defaultProjectPermissions } from '#features/basics/access/team-policy.ts'
import { isAdmin } from '#features/basics/access/viewer.ts'
import { listProjectIdsOfOrganization } from '#features/catalogue/projects/queries.ts'
import { transferOwnership } from '#features/community/teams/transfer-ownership.ts'
import { validationError } from '#lib/errors.ts'
import { confirmFirst } from '#web/kit/forms/confirm.ts'
import type { FormState, Outcome } from '#web/kit/forms/form-page.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { html, type Part } from '#web/ui/html.ts'
import { pathTo } from '#web/ui/page-context.ts'
import { form } from '#web/ui/parts/fields.ts'
import { sheetPart } from '#web/ui/parts/frame.ts'
import { acceptedOf, memberSelect } from '../people/moves.ts'
import { teamCommands, teamLabels } from '../people/team-commands.ts'
import { loadRows, type ShownRow, type TeamData } from '../people/team-data.ts'
import { teamParts } from '../people/team-view.ts'
import { loadManagedOrganization, type ManagedOrganization, may } from './managed-organization.ts'
import { organizationFormOf, showOrganizationSettings } from './settings-frame.ts'

type OrganizationTeam = ManagedOrganization & { shown: TeamData }

export function organizationMemberPages(pages: Pages): void {
  organizationFormOf<OrganizationTeam>(pages, {
    below: '/members',
    name: 'manageOrganizationMembers',
    load: loadTeam,
    show: showMembers,
    commands: { ...teamCommands<OrganizationTeam>(({ shown }) => shown), give: confirmFirst(askTransfer, give) },
    labels: ({ shown }) => ({ ...teamLabels(shown), user_id: 'The new owner' }),
  })
}

async function loadTeam(request: OwnRequest): Promise<OrganizationTeam> {
  const data = await loadManagedOrganization(request)
  const { team, view, permissions, member, settings } = data
  const { rows, asMember } = await loadRows(request, team)
  const projectBits = may(data, 'EDIT_MEMBER_DEFAULT_PERMISSIONS')
    ? defaultProjectPermissions(request.viewer, member)
    : 0
  return {
    ...data,
    shown: {
      kind: 'organization',
      teamId: team.id,
      revision: team.revision,
      name: view.name,
      path: `${settings}/members`,
      rows,
      asMember,
      may: {
        edit: asMember && may(data, 'EDIT_MEMBER'),
        invite: may(data, 'MANAGE_INVITES'),
        remove: may(data, 'REMOVE_MEMBER'),
      },
      grantable: { organization_permissions: permissions, permissions: projectBits },
    },
  }
}

/** Members who can become the owner, if the viewer can choose one. */
function heirsOf({ viewer }: OwnRequest, { member, shown }: OrganizationTeam): ShownRow[] {
  if (member?.is_owner !== true && !isAdmin(viewer)) return []
  return acceptedOf(shown.rows).filter(({ is_owner }) => !is_owner)
}

async function askTransfer(request: OwnRequest, data: OrganizationTeam, state: FormState) {
  const { deps, viewer, t } = request
  const heir = acceptedOf(data.shown.rows).find(({ account_id }) => account_id === state.text('user_id'))
  if (heir === undefined) throw validationError('user_id', 'must be a member of the organization')
  const names = { member: heir.user.username, name: data.view.name }
  const projects = await listProjectIdsOfOrganization(deps.db, data.organization.id)
  const consequences = [
    t('people.give.consequence', names),
    t('organizations.give.projects', { ...names, count: projects.length }),
    ...(data.team.members.some((row) => row.is_owner && row.account_id === viewer.id) ? [t('people.give.stay')] : []),
  ]
  return { title: t('people.give.title', names), consequences, button: t('people.give') }
}

async function give({ deps, viewer }: OwnRequest, { team }: OrganizationTeam, state: FormState): Promise<Outcome> {
  await transferOwnership(deps, viewer, { teamId: team.id, accountId: state.text('user_id') })
  return { done: 'organization-owner' }
}

function showMembers(request: OwnRequest, data: OrganizationTeam, state: FormState): Promise<FastifyReply> {
  const { t } = request
  return showOrganizationSettings(request, data, {
    section: '/members',
    heading: t('people.members'),
    text: t('organizations.members.text'),
    needs: 'EDIT_MEMBER',
    form: state,
    body: [teamParts(request, data.shown, state), transferPart(request, data, state)],
  })
}

function transferPart(request: OwnRequest, data: OrganizationTeam, state: FormState): Part {
  const { page, t } = request
  const heirs = heirsOf(request, data)
  const isOwner = data.member?.is_owner === true
  if (heirs.length === 0 && !isOwner) return false
  const choose = html`${memberSelect(page, { name: 'user_id', rows: heirs, state })}<div class="line"><button name="do" value="give">${t('people.give')}</button></div>`
  const content =
    heirs.length === 0
      ? html`<p class="soft">${t('organizations.give.none')}</p>`
      : form(page, { action: pathTo(page, data.shown.path), className: 'stack', content: choose })
  return sheetPart({ id: 'owner', title: t('people.give'), text: t('organizations.give.text'), content })
}
