// Routes to the members of a project, a team or several teams.
import Type from 'typebox'
import { ProjectParams } from '#features/basics/access/requests.ts'
import { type MemberWriter, TeamMemberView, toMemberJson } from '#features/community/teams/views.ts'
import { notFound } from '#lib/errors.ts'
import { parseId } from '#lib/ids.ts'
import { IdParams, IdsQuery, parseIdList } from '#platform/http/query-values.ts'
import { sendBytes } from '#platform/http/responses/entity-tags.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { listProjectMembers, listTeams } from './member-lists.ts'

const read = { auth: { read: ['PROJECT_READ'] }, limitedTokens: 'resource', cache: 'public' } as const

/** Registers the routes. The v2 API has another prefix and another form of members. */
export function memberRoutes(
  app: App,
  deps: Pick<Deps, 'db' | 'cache' | 'taxonomy' | 'config'>,
  prefix = '/v3',
  { schema, toJson }: { schema: Type.TSchema; toJson: MemberWriter } = { schema: TeamMemberView, toJson: toMemberJson },
): void {
  app.get(`${prefix}/project/:id/members`, {
    config: read,
    schema: {
      operationId: 'listProjectMembers',
      summary: 'List the members of a project, then those of its organization',
      params: ProjectParams,
      response: { 200: Type.Array(schema) },
    },
    handler: async (req, reply) =>
      sendBytes(reply, Buffer.from(await listProjectMembers(deps, req.viewer, req.params.id, toJson))),
  })
  app.get(`${prefix}/team/:id/members`, {
    config: read,
    schema: {
      operationId: 'listTeamMembers',
      summary: 'List the members of a team',
      params: IdParams,
      response: { 200: Type.Array(schema) },
    },
    handler: async (req, reply) => {
      const [members] = await listTeams(deps, req.viewer, [parseId(req.params.id, 'id')], toJson)
      if (members === undefined) throw notFound('team')
      return sendBytes(reply, Buffer.from(members))
    },
  })
  app.get(`${prefix}/teams`, {
    config: { ...read, errors: ['400 decoding_error'] },
    schema: {
      operationId: 'listTeams',
      summary: 'List the members of several teams, one list per team',
      querystring: IdsQuery,
      response: { 200: Type.Array(Type.Array(schema)) },
    },
    handler: async (req, reply) => {
      const ids = parseIdList(req.query.ids)
      const teams = await listTeams(deps, req.viewer, ids, toJson)
      return sendBytes(reply, Buffer.from(`[${teams.join()}]`))
    },
  })
}
