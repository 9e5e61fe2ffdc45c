// Making, editing and deleting organizations.
import { transaction } from '#cache/transaction.ts'
import { requireVerifiedEmail } from '#features/access/verified-email.ts'
import { done } from '#http/answers.ts'
import { requireViewer } from '#http/auth.ts'
import { sendBytes } from '#http/entity-tags.ts'
import { IdParams } from '#http/query-values.ts'
import type { App } from '#http/server.ts'
import type { Deps } from '#main/deps.ts'
import { recordEvent } from '#telemetry/events.ts'
import { createOrganization } from './create-organization.ts'
import { deleteOrganization } from './delete-organization.ts'
import { getOrganization, toOrganizationView } from './organization-cache.ts'
import { updateOrganization } from './update-organization.ts'
import { checkNewTexts, checkTexts, NewOrganization, OrganizationPatch, OrganizationView } from './views.ts'

export function organizationWrites(app: App, deps: Deps): void {
  app.post(
    '/v3/organization',
    {
      config: { auth: { scope: ['ORGANIZATION_CREATE'] } },
      schema: {
        operationId: 'createOrganization',
        summary: 'Create an organization, owned by the caller',
        body: NewOrganization,
        response: { 201: OrganizationView },
      },
    },
    async (req, reply) => {
      const viewer = requireViewer(req)
      const texts = checkNewTexts(req.body)
      requireVerifiedEmail(deps, viewer)
      const id = await transaction(deps, (tx) => createOrganization(tx, deps.config, viewer, texts))
      recordEvent(deps, 'organization.created', { organization_id: id })
      const organization = await getOrganization(deps, id)
      return sendBytes(reply.status(201), await toOrganizationView(deps, viewer, organization))
    },
  )
  app.patch(
    '/v3/organization/:id',
    {
      config: { auth: { scope: ['ORGANIZATION_WRITE'] } },
      schema: {
        operationId: 'updateOrganization',
        summary: 'Edit an organization',
        params: IdParams,
        body: OrganizationPatch,
      },
    },
    async (req, reply) => {
      const viewer = requireViewer(req)
      const patch = { name: req.params.id, texts: checkTexts(req.body) }
      await transaction(deps, (tx, changed) => updateOrganization(tx, changed, viewer, patch))
      return done(reply)
    },
  )
  app.delete(
    '/v3/organization/:id',
    {
      config: { auth: { scope: ['ORGANIZATION_DELETE'] } },
      schema: {
        operationId: 'deleteOrganization',
        summary: 'Delete an organization; its projects go to its owner',
        params: IdParams,
      },
    },
    async (req, reply) => {
      const viewer = requireViewer(req)
      const { config } = deps
      const { id } = await transaction(deps, (tx, changed) =>
        deleteOrganization(tx, changed, viewer, { name: req.params.id, config }),
      )
      recordEvent(deps, 'organization.deleted', { organization_id: id })
      return done(reply)
    },
  )
}
