// Routes to invite, edit and remove team members, and to transfer the ownership of a team.

import { requireViewer } from '#features/basics/authentication/access-control.ts'
import { parseId } from '#lib/ids.ts'
import { expectedRevision, IdParams, IfMatch } from '#platform/http/query-values.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { editMember, joinTeam, removeMember } from './edit-member.ts'
import { editMembers } from './edit-members.ts'
import { inviteMember } from './invite-member.ts'
import {
  Invitation,
  MemberParams,
  MemberPatch,
  MembersPatch,
  NewOwner,
  parseBodyId,
  toMemberChange,
  toMembersChange,
} from './requests.ts'
import { transferOwnership } from './transfer-ownership.ts'

type TeamDeps = Pick<Deps, 'db' | 'cache' | 'config' | 'log' | 'metrics' | 'now'>

/** The same routes and scope apply to the teams of organizations. */
const write = { auth: { scope: ['PROJECT_WRITE'] }, limitedTokens: 'resource' } as const

/** `prefix`: the v2 API has the same routes. */
export function teamRoutes(app: App, deps: TeamDeps, prefix = '/v3'): void {
  memberWrites(app, deps, prefix)
  ownWrites(app, deps, prefix)
}

function memberWrites(app: App, deps: TeamDeps, prefix: string): void {
  app.post(`${prefix}/team/:id/members`, {
    config: write,
    schema: { operationId: 'inviteTeamMember', summary: 'Invite a user to a team', params: IdParams, body: Invitation },
    handler: async (req) => {
      const viewer = requireViewer(req)
      const teamId = parseId(req.params.id, 'id')
      const accountId = parseBodyId(req.body.user_id, 'user_id')
      await inviteMember(deps, viewer, { teamId, accountId, fields: toMemberChange(req.body) })
    },
  })
  app.patch(`${prefix}/team/:id/members/:user_id`, {
    config: { ...write, errors: ['400 decoding_error'], withoutPage: 'Does for one item what a page does for several' },
    schema: {
      operationId: 'updateTeamMember',
      summary: 'Edit a member or a pending invitation',
      params: MemberParams,
      headers: IfMatch,
      body: MemberPatch,
    },
    handler: async (req) => {
      const viewer = requireViewer(req)
      const teamId = parseId(req.params.id, 'id')
      const accountId = parseId(req.params.user_id, 'user_id')
      const revision = expectedRevision(req)
      await editMember(deps, viewer, { teamId, accountId, fields: toMemberChange(req.body), revision })
    },
  })
  app.delete(`${prefix}/team/:id/members/:user_id`, {
    config: { ...write, errors: ['400 decoding_error'] },
    schema: {
      operationId: 'removeTeamMember',
      summary: 'Remove a member, leave a team, or withdraw or decline an invitation',
      params: MemberParams,
    },
    handler: async (req) => {
      const viewer = requireViewer(req)
      const teamId = parseId(req.params.id, 'id')
      const accountId = parseId(req.params.user_id, 'user_id')
      await removeMember(deps, viewer, { teamId, accountId })
    },
  })
}

/** The v2 API has no route for several members. */
export function teamEditRoute(app: App, deps: TeamDeps): void {
  app.patch('/v3/team/:id/members', {
    config: write,
    schema: {
      operationId: 'updateTeamMembers',
      summary: 'Edit several members and pending invitations in one transaction',
      params: IdParams,
      headers: IfMatch,
      body: MembersPatch,
    },
    handler: async (req) => {
      const teamId = parseId(req.params.id, 'id')
      const members = toMembersChange(req.body)
      await editMembers(deps, requireViewer(req), { teamId, members, revision: expectedRevision(req) })
    },
  })
}

function ownWrites(app: App, deps: TeamDeps, prefix: string): void {
  app.post(`${prefix}/team/:id/join`, {
    config: write,
    schema: { operationId: 'joinTeam', summary: 'Accept an invitation to a team', params: IdParams },
    handler: (req): Promise<void> => joinTeam(deps, requireViewer(req), parseId(req.params.id, 'id')),
  })
  app.patch(`${prefix}/team/:id/owner`, {
    config: write,
    schema: {
      operationId: 'transferTeamOwnership',
      summary: 'Transfer the ownership of a team to an accepted member',
      params: IdParams,
      headers: IfMatch,
      body: NewOwner,
    },
    handler: async (req) => {
      const viewer = requireViewer(req)
      const teamId = parseId(req.params.id, 'id')
      const accountId = parseBodyId(req.body.user_id, 'user_id')
      await transferOwnership(deps, viewer, { teamId, accountId, revision: expectedRevision(req) })
    },
  })
}
