// Routes to webhooks.
import Type from 'typebox'
import { OrganizationParams, ProjectParams, UserParams } from '#features/basics/access/requests.ts'
import { requireViewer } from '#features/basics/authentication/access-control.ts'
import { parseId } from '#lib/ids.ts'
import { mountInternal } from '#platform/http/mounts.ts'
import { IdParams } from '#platform/http/query-values.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { deliveryRoutes } from './deliveries/routes.ts'
import { getOwner, getWebhook, INSTANCE } from './owner.ts'
import { listWebhooksOf } from './queries.ts'
import { NewWebhook, overlapHours, SecretRotation, WebhookPatch } from './requests.ts'
import { createWebhook, deleteWebhook, rotateSecret, updateWebhook, WEBHOOKS_MAX } from './update-webhook.ts'
import { NewWebhookView, SecretView, toWebhookView, WebhookView } from './views.ts'

const PATH = '/v3/webhook'
const READ = { auth: { scope: ['WEBHOOK_READ'] }, limitedTokens: 'resource', cache: 'private' } as const
const WRITE = { auth: { scope: ['WEBHOOK_WRITE'] }, limitedTokens: 'resource' } as const

const OWNERS = [
  { kind: 'project', params: ProjectParams, operationId: 'listProjectWebhooks', of: 'a project' },
  { kind: 'organization', params: OrganizationParams, operationId: 'listOrganizationWebhooks', of: 'an organization' },
  { kind: 'user', params: UserParams, operationId: 'listUserWebhooks', of: 'a user' },
] as const

export function webhookRoutes(app: App, deps: Deps): void {
  listRoutes(app, deps)
  saveRoutes(app, deps)
  secretRoute(app, deps)
  deliveryRoutes(app, deps)
}

/** The webhooks of the instance, for operators. */
export function instanceWebhookRoute(app: App, { db }: Pick<Deps, 'db'>): void {
  mountInternal(app, (scope) => {
    scope.get('/admin/webhooks', {
      config: { auth: 'operator' },
      schema: {
        operationId: 'listInstanceWebhooks',
        summary: 'List the webhooks of the instance',
        response: { 200: Type.Array(WebhookView, { maxItems: WEBHOOKS_MAX.perOwner }) },
      },
      handler: async () => (await listWebhooksOf(db, INSTANCE)).map(toWebhookView),
    })
  })
}

function listRoutes(app: App, deps: Deps): void {
  for (const { kind, params, operationId, of } of OWNERS) {
    app.get(`/v3/${kind}/:id/webhooks`, {
      // A token that is limited to projects or organizations does not cover a user.
      config: kind === 'user' ? { auth: READ.auth, cache: READ.cache } : READ,
      schema: {
        operationId,
        summary: `List the webhooks of ${of}`,
        description: kind === 'user' ? 'The user themselves only.' : 'Members with EDIT_DETAILS only.',
        params,
        response: { 200: Type.Array(WebhookView, { maxItems: WEBHOOKS_MAX.perOwner }) },
      },
      handler: async (req) => {
        const owner = await getOwner(deps, requireViewer(req), { kind, name: req.params.id })
        return (await listWebhooksOf(deps.db, owner)).map(toWebhookView)
      },
    })
  }
}

function saveRoutes(app: App, deps: Deps): void {
  app.post(PATH, {
    config: { ...WRITE, errors: ['400 LimitReached'] },
    schema: {
      operationId: 'createWebhook',
      summary: 'Create a webhook; its secret is returned only once',
      description:
        'A webhook of a user covers all projects and organizations that the user owns. A webhook of a project or an ' +
        'organization needs EDIT_DETAILS; one of the instance needs an admin.',
      body: NewWebhook,
      response: { 201: NewWebhookView },
    },
    handler: async (req, reply) => {
      const { row, secret } = await createWebhook(deps, requireViewer(req), req.body)
      return reply.status(201).send({ ...toWebhookView(row), secret })
    },
  })
  app.get(`${PATH}/:id`, {
    config: READ,
    schema: { operationId: 'getWebhook', summary: 'Get a webhook', params: IdParams, response: { 200: WebhookView } },
    handler: async (req) => toWebhookView(await getWebhook(deps, requireViewer(req), parseId(req.params.id, 'id'))),
  })
  app.patch(`${PATH}/:id`, {
    config: WRITE,
    schema: {
      operationId: 'updateWebhook',
      summary: 'Edit a webhook, or switch it on or off',
      params: IdParams,
      body: WebhookPatch,
    },
    handler: (req): Promise<void> =>
      updateWebhook(deps, requireViewer(req), { id: parseId(req.params.id, 'id'), patch: req.body }),
  })
  app.delete(`${PATH}/:id`, {
    config: WRITE,
    schema: { operationId: 'deleteWebhook', summary: 'Delete a webhook with its deliveries', params: IdParams },
    handler: (req): Promise<void> => deleteWebhook(deps, requireViewer(req), parseId(req.params.id, 'id')),
  })
}

function secretRoute(app: App, deps: Deps): void {
  app.post(`${PATH}/:id/secret`, {
    config: WRITE,
    schema: {
      operationId: 'rotateWebhookSecret',
      summary: 'Renew the secret of a webhook; it is returned only once',
      description: 'Until the overlap ends, the previous secret signs too. A lost secret has no overlap.',
      params: IdParams,
      body: SecretRotation,
      response: { 200: SecretView },
    },
    handler: async (req) => {
      const id = parseId(req.params.id, 'id')
      const secret = await rotateSecret(deps, requireViewer(req), { id, overlapHours: overlapHours(req.body) })
      return { secret }
    },
  })
}
