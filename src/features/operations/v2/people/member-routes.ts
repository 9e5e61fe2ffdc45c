// v2 routes that list the members of projects and teams.
import Type from 'typebox'
import { listProjectMembers, listTeams } from '#features/community/members/member-lists.ts'
import { notFound } from '#lib/errors.ts'
import { parseId } from '#lib/ids.ts'
import { IdParams, IdsQuery, ProjectParams, parseIds } from '#platform/http/query-values.ts'
import { sendBytes } from '#platform/http/responses/entity-tags.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { MemberV2, writeMemberV2 } from './views.ts'

const read = { auth: { read: ['PROJECT_READ'] }, cache: 'public' } as const

export function memberRoutesV2(app: App, deps: Pick<Deps, 'db' | 'cache' | 'taxonomy'>): void {
  app.get(
    '/project/:id/members',
    {
      config: read,
      schema: {
        operationId: 'listProjectMembersV2',
        summary: 'List the members of a project: its team, then its organization',
        params: ProjectParams,
        response: { 200: Type.Array(MemberV2) },
      },
    },
    async (req, reply) =>
      sendBytes(reply, Buffer.from(await listProjectMembers(deps, req.viewer, req.params.id, writeMemberV2))),
  )
  app.get(
    '/team/:id/members',
    {
      config: read,
      schema: {
        operationId: 'listTeamMembersV2',
        summary: 'List the members of a team',
        params: IdParams,
        response: { 200: Type.Array(MemberV2) },
      },
    },
    async (req, reply) => {
      const [members] = await listTeams(deps, req.viewer, [parseId(req.params.id, 'id')], writeMemberV2)
      if (members === undefined) throw notFound('team')
      return sendBytes(reply, Buffer.from(members))
    },
  )
  app.get(
    '/teams',
    {
      config: read,
      schema: {
        operationId: 'listTeamsV2',
        summary: 'List the members of several teams, one list per team',
        querystring: IdsQuery,
        response: { 200: Type.Array(Type.Array(MemberV2)) },
      },
    },
    async (req, reply) => {
      const ids = parseIds(req.query.ids).map((id) => parseId(id, 'ids'))
      return sendBytes(reply, Buffer.from(`[${(await listTeams(deps, req.viewer, ids, writeMemberV2)).join()}]`))
    },
  )
}
