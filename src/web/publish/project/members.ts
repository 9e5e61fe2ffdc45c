// Project settings: members with their permissions, roles and shares, and invitations.
import type { FastifyReply } from 'fastify'
import { listOwningTeams } from '#features/community/organizations/organization-cache.ts'
import { listCachedTeams } from '#features/community/teams/team-cache.ts'
import { notFound } from '#lib/errors.ts'
import type { Taxonomy } from '#taxonomy/taxonomy.ts'
import type { FormState } from '#web/kit/forms/form-page.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { html, type Part } from '#web/ui/html.ts'
import { icon } from '#web/ui/page-context.ts'
import { teamCommands, teamLabels } from '../people/team-commands.ts'
import { loadRows, type TeamData } from '../people/team-data.ts'
import { teamParts } from '../people/team-view.ts'
import { loadManagedProject, type ManagedProject, may } from './managed-project.ts'
import { projectFormOf, showProjectSettings } from './settings-frame.ts'

type ProjectTeam = ManagedProject & { team: TeamData }

export function memberPages(pages: Pages, taxonomy: Taxonomy): void {
  projectFormOf<ProjectTeam>(pages, taxonomy, {
    below: '/settings/members',
    name: 'manageMembers',
    api: 'listTeamMembers searchUsers inviteTeamMember updateTeamMembers removeTeamMember',
    load: loadTeam,
    show: showMembers,
    commands: teamCommands<ProjectTeam>(({ team }) => team),
    labels: ({ team }) => teamLabels(team),
  })
}

async function loadTeam(request: OwnRequest): Promise<ProjectTeam> {
  const data = await loadManagedProject(request)
  const { project, permissions } = data
  const team = (await listCachedTeams(request.deps, [project.team_id])).get(project.team_id)
  if (team === undefined) throw notFound('project')
  const owning = await listOwningTeams(request.deps, [project])
  const { rows, asMember } = await loadRows(request, team, owning.get(project.organization_id ?? ''))
  return {
    ...data,
    team: {
      kind: 'project',
      teamId: team.id,
      revision: team.revision,
      name: data.view.name,
      path: `${data.settings}/members`,
      rows,
      asMember,
      may: {
        edit: asMember && may(data, 'EDIT_MEMBER'),
        invite: may(data, 'MANAGE_INVITES'),
        remove: may(data, 'REMOVE_MEMBER'),
      },
      grantable: { permissions },
    },
  }
}

function showMembers(request: OwnRequest, data: ProjectTeam, state: FormState): Promise<FastifyReply> {
  const { t } = request
  return showProjectSettings(request, data, {
    section: '/members',
    heading: t('people.members'),
    text: t('people.members.text'),
    needs: 'EDIT_MEMBER',
    form: state,
    notes: organizationNote(request, data),
    body: html`${teamParts(request, data.team, state)}`,
  })
}

/** Members of the organization have access without being in the project's team. */
function organizationNote({ page }: OwnRequest, { organization }: ManagedProject): Part {
  if (organization === undefined) return undefined
  const text = page.language.t('people.through-organization', { name: organization })
  return html`<div class="note">${icon(page, 'building')}<div><p>${text}</p></div></div>`
}
