// Operator routes for invitations.
import Type from 'typebox'
import { operatorOf } from '#features/basics/audit/actor.ts'
import { parseId } from '#lib/ids.ts'
import { mountInternal } from '#platform/http/mounts.ts'
import { IdParams, PageQuery } from '#platform/http/query-values.ts'
import type { App } from '#platform/http/server.ts'
import { createInvitation, type InvitationDeps, revokeInvitation } from './create-invitation.ts'
import { listInvitations } from './queries.ts'
import { NewInvitation, toInvitation } from './requests.ts'
import { InvitationView, NewInvitationView, toInvitationView } from './views.ts'

const config = { auth: 'operator' } as const

export function invitationRoutes(app: App, deps: InvitationDeps): void {
  mountInternal(app, (scope) => {
    scope.get('/admin/invitations', {
      config,
      schema: {
        operationId: 'listInvitations',
        summary: 'List invitations, newest first',
        querystring: PageQuery,
        response: { 200: Type.Array(InvitationView) },
      },
      handler: async (req) => {
        const { limit = 100, offset = 0 } = req.query
        return (await listInvitations(deps.db, { limit, offset })).map(toInvitationView)
      },
    })
    scope.post('/admin/invitations', {
      config,
      schema: {
        operationId: 'createInvitation',
        summary: 'Create an invitation',
        description:
          'If `registration` is `invitation`, users need the code of an invitation to sign up. If `email` is set and SMTP is configured, Depot sends the invitation to that address.',
        body: NewInvitation,
        response: { 201: NewInvitationView },
      },
      handler: async (req, reply) => {
        const input = toInvitation(req.body, deps.now())
        return reply.status(201).send(await createInvitation(deps, operatorOf(req), input))
      },
    })
    scope.delete('/admin/invitations/:id', {
      config,
      schema: { operationId: 'revokeInvitation', summary: 'Revoke an invitation', params: IdParams },
      handler: (req): Promise<void> => revokeInvitation(deps, operatorOf(req), parseId(req.params.id, 'id')),
    })
  })
}
