// Routes to the members of a project, a team or several teams.
import Type from 'typebox'
import { TeamMemberView } from '#features/community/teams/views.ts'
import { notFound } from '#lib/errors.ts'
import { parseId } from '#lib/ids.ts'
import { IdParams, IdsQuery, ProjectParams, parseIds } from '#platform/http/query-values.ts'
import { sendBytes } from '#platform/http/responses/entity-tags.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { listProjectMembers, listTeams } from './member-lists.ts'

const read = { auth: { read: ['PROJECT_READ'] }, cache: 'public' } as const

export function memberRoutes(app: App, deps: Pick<Deps, 'db' | 'cache' | 'taxonomy'>): void {
  app.get(
    '/v3/project/:id/members',
    {
      config: read,
      schema: {
        operationId: 'listProjectMembers',
        summary: 'List the members of a project, then those of its organization',
        params: ProjectParams,
        response: { 200: Type.Array(TeamMemberView) },
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
        summary: 'List the members of a team',
        params: IdParams,
        response: { 200: Type.Array(TeamMemberView) },
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
        summary: 'List the members of several teams, one list per team',
        querystring: IdsQuery,
        response: { 200: Type.Array(Type.Array(TeamMemberView)) },
      },
    },
    async (req, reply) => {
      const ids = parseIds(req.query.ids).map((id) => parseId(id, 'ids'))
      const teams = await listTeams(deps, req.viewer, ids)
      return sendBytes(reply, Buffer.from(`[${teams.join()}]`))
    },
  )
}
