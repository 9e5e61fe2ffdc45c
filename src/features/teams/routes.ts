// Teams: who belongs to them, and the life of a membership from invitation to removal.
import Type from 'typebox'
import { writing } from '#cache/writing.ts'
import { DoneAnswers, ErrorAnswers } from '#http/answers.ts'
import { requireViewer } from '#http/auth.ts'
import { sendBytes } from '#http/entity-tags.ts'
import { IdParams, IdsQuery, parseIds } from '#http/query-values.ts'
import type { App } from '#http/server.ts'
import { notFound } from '#lib/errors.ts'
import { parseId } from '#lib/ids.ts'
import { recordEvent } from '#telemetry/events.ts'
import type { Deps } from '../../deps.ts'
import { editMember } from './edit-member.ts'
import { inviteMember } from './invite-member.ts'
import { joinTeam } from './join-team.ts'
import { Invitation, MemberPatch, NewOwner, parseBodyId, toMemberChange } from './member-fields.ts'
import { removeMember } from './remove-member.ts'
import { listProjectMembers, listTeams } from './team-reads.ts'
import { transferOwnership } from './transfer-ownership.ts'
import { TeamMemberView } from './views.ts'

type TeamDeps = Pick<Deps, 'db' | 'cache' | 'taxonomy' | 'log' | 'metrics'>

const tags = ['teams']
const read = { auth: { read: ['PROJECT_READ'] }, cache: 'public' } as const
/** Teams of organizations are changed by the same routes, and ask for the same scope (facts/people.md 1.2). */
const write = { auth: { scope: ['PROJECT_WRITE'] } } as const

const MemberParams = Type.Object({
  id: Type.String({ maxLength: 256, description: 'Team ID' }),
  user_id: Type.String({ maxLength: 256, description: 'User ID' }),
})

export function teamRoutes(app: App, deps: TeamDeps): void {
  teamReads(app, deps)
  memberWrites(app, deps)
  ownWrites(app, deps)
}

function teamReads(app: App, deps: TeamDeps): void {
  app.get(
    '/v3/project/:id/members',
    {
      config: read,
      schema: {
        operationId: 'listProjectMembers',
        summary: "A project's team, then the members of its organization",
        tags,
        params: IdParams,
        response: { 200: Type.Array(TeamMemberView), ...ErrorAnswers },
      },
    },
    async (req, reply) => sendBytes(reply, Buffer.from(await listProjectMembers(deps, req.viewer, req.params.id))),
  )
  app.get(
    '/v3/team/:id/members',
    {
      config: read,
      schema: {
        operationId: 'listTeamMembers',
        summary: 'The members of a team',
        tags,
        params: IdParams,
        response: { 200: Type.Array(TeamMemberView), ...ErrorAnswers },
      },
    },
    async (req, reply) => {
      const [members] = await listTeams(deps, req.viewer, [parseId(req.params.id, 'id')])
      if (members === undefined) throw notFound('team')
      return sendBytes(reply, Buffer.from(members))
    },
  )
  app.get(
    '/v3/teams',
    {
      config: read,
      schema: {
        operationId: 'listTeams',
        summary: 'The members of several teams, one list for each',
        tags,
        querystring: IdsQuery,
        response: { 200: Type.Array(Type.Array(TeamMemberView)), ...ErrorAnswers },
      },
    },
    async (req, reply) => {
      const ids = parseIds(req.query.ids).map((id) => parseId(id, 'ids'))
      const teams = await listTeams(deps, req.viewer, ids)
      return sendBytes(reply, Buffer.from(`[${teams.join()}]`))
    },
  )
}

function memberWrites(app: App, deps: TeamDeps): void {
  app.post(
    '/v3/team/:id/members',
    {
      config: write,
      schema: {
        operationId: 'inviteTeamMember',
        summary: 'Invite a user to a team',
        tags,
        params: IdParams,
        body: Invitation,
        response: DoneAnswers,
      },
    },
    async (req, reply) => {
      const viewer = requireViewer(req)
      const teamId = parseId(req.params.id, 'id')
      const accountId = parseBodyId(req.body.user_id, 'user_id')
      const fields = toMemberChange(req.body)
      await writing(deps, (tx, changed) => inviteMember(tx, changed, viewer, { teamId, accountId, fields }))
      recordEvent(deps, 'member.invited', { team_id: teamId })
      return reply.status(204).send(null)
    },
  )
  app.patch(
    '/v3/team/:id/members/:user_id',
    {
      config: write,
      schema: {
        operationId: 'updateTeamMember',
        summary: 'Edit a member or a pending invitation',
        tags,
        params: MemberParams,
        body: MemberPatch,
        response: DoneAnswers,
      },
    },
    async (req, reply) => {
      const viewer = requireViewer(req)
      const teamId = parseId(req.params.id, 'id')
      const accountId = parseId(req.params.user_id, 'user_id')
      const fields = toMemberChange(req.body)
      await writing(deps, (tx, changed) => editMember(tx, changed, viewer, { teamId, accountId, fields }))
      return reply.status(204).send(null)
    },
  )
  app.delete(
    '/v3/team/:id/members/:user_id',
    {
      config: write,
      schema: {
        operationId: 'removeTeamMember',
        summary: 'Remove a member, leave a team, withdraw or decline an invitation',
        tags,
        params: MemberParams,
        response: DoneAnswers,
      },
    },
    async (req, reply) => {
      const viewer = requireViewer(req)
      const teamId = parseId(req.params.id, 'id')
      const accountId = parseId(req.params.user_id, 'user_id')
      await writing(deps, (tx, changed) => removeMember(tx, changed, viewer, { teamId, accountId }))
      return reply.status(204).send(null)
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
        tags,
        params: IdParams,
        response: DoneAnswers,
      },
    },
    async (req, reply) => {
      const viewer = requireViewer(req)
      const teamId = parseId(req.params.id, 'id')
      await writing(deps, (tx, changed) => joinTeam(tx, changed, viewer, teamId))
      recordEvent(deps, 'member.joined', { team_id: teamId })
      return reply.status(204).send(null)
    },
  )
  app.patch(
    '/v3/team/:id/owner',
    {
      config: write,
      schema: {
        operationId: 'transferTeamOwnership',
        summary: 'Hand a team to one of its accepted members',
        tags,
        params: IdParams,
        body: NewOwner,
        response: DoneAnswers,
      },
    },
    async (req, reply) => {
      const viewer = requireViewer(req)
      const teamId = parseId(req.params.id, 'id')
      const accountId = parseBodyId(req.body.user_id, 'user_id')
      await writing(deps, (tx, changed) => transferOwnership(tx, changed, viewer, { teamId, accountId }))
      return reply.status(204).send(null)
    },
  )
}
