// Teams: the life of a membership from invitation to removal.
import Type from 'typebox'
import { transaction } from '#cache/transaction.ts'
import { done } from '#http/answers.ts'
import { requireViewer } from '#http/auth.ts'
import { IdParams } from '#http/query-values.ts'
import type { App } from '#http/server.ts'
import { parseId } from '#lib/ids.ts'
import type { Deps } from '#main/deps.ts'
import { recordEvent } from '#telemetry/events.ts'
import { editMember } from './edit-member.ts'
import { inviteMember } from './invite-member.ts'
import { joinTeam } from './join-team.ts'
import { Invitation, MemberPatch, NewOwner, parseBodyId, toMemberChange } from './member-fields.ts'
import { removeMember } from './remove-member.ts'
import { transferOwnership } from './transfer-ownership.ts'

type TeamDeps = Pick<Deps, 'db' | 'cache' | 'taxonomy' | 'log' | 'metrics'>

/** Teams of organizations are changed by the same routes, and ask for the same scope (facts/people.md 1.2). */
const write = { auth: { scope: ['PROJECT_WRITE'] } } as const

const MemberParams = Type.Object({
  id: Type.String({ maxLength: 256, description: 'Team ID' }),
  user_id: Type.String({ maxLength: 256, description: 'User ID' }),
})

export function teamRoutes(app: App, deps: TeamDeps): void {
  memberWrites(app, deps)
  ownWrites(app, deps)
}

function memberWrites(app: App, deps: TeamDeps): void {
  app.post(
    '/v3/team/:id/members',
    {
      config: write,
      schema: {
        operationId: 'inviteTeamMember',
        summary: 'Invite a user to a team',
        params: IdParams,
        body: Invitation,
      },
    },
    async (req, reply) => {
      const viewer = requireViewer(req)
      const teamId = parseId(req.params.id, 'id')
      const accountId = parseBodyId(req.body.user_id, 'user_id')
      const fields = toMemberChange(req.body)
      await transaction(deps, (tx, changed) => inviteMember(tx, changed, viewer, { teamId, accountId, fields }))
      recordEvent(deps, 'member.invited', { team_id: teamId })
      return done(reply)
    },
  )
  app.patch(
    '/v3/team/:id/members/:user_id',
    {
      config: write,
      schema: {
        operationId: 'updateTeamMember',
        summary: 'Edit a member or a pending invitation',
        params: MemberParams,
        body: MemberPatch,
      },
    },
    async (req, reply) => {
      const viewer = requireViewer(req)
      const teamId = parseId(req.params.id, 'id')
      const accountId = parseId(req.params.user_id, 'user_id')
      const fields = toMemberChange(req.body)
      await transaction(deps, (tx, changed) => editMember(tx, changed, viewer, { teamId, accountId, fields }))
      return done(reply)
    },
  )
  app.delete(
    '/v3/team/:id/members/:user_id',
    {
      config: write,
      schema: {
        operationId: 'removeTeamMember',
        summary: 'Remove a member, leave a team, withdraw or decline an invitation',
        params: MemberParams,
      },
    },
    async (req, reply) => {
      const viewer = requireViewer(req)
      const teamId = parseId(req.params.id, 'id')
      const accountId = parseId(req.params.user_id, 'user_id')
      await transaction(deps, (tx, changed) => removeMember(tx, changed, viewer, { teamId, accountId }))
      return done(reply)
    },
  )
}

function ownWrites(app: App, deps: TeamDeps): void {
  app.post(
    '/v3/team/:id/join',
    {
      config: write,
      schema: {
        operationId: 'joinTeam',
        summary: "Accept the caller's invitation",
        params: IdParams,
      },
    },
    async (req, reply) => {
      const viewer = requireViewer(req)
      const teamId = parseId(req.params.id, 'id')
      await transaction(deps, (tx, changed) => joinTeam(tx, changed, viewer, teamId))
      recordEvent(deps, 'member.joined', { team_id: teamId })
      return done(reply)
    },
  )
  app.patch(
    '/v3/team/:id/owner',
    {
      config: write,
      schema: {
        operationId: 'transferTeamOwnership',
        summary: 'Hand a team to one of its accepted members',
        params: IdParams,
        body: NewOwner,
      },
    },
    async (req, reply) => {
      const viewer = requireViewer(req)
      const teamId = parseId(req.params.id, 'id')
      const accountId = parseBodyId(req.body.user_id, 'user_id')
      await transaction(deps, (tx, changed) => transferOwnership(tx, changed, viewer, { teamId, accountId }))
      return done(reply)
    },
  )
}
