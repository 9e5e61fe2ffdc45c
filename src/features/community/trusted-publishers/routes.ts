// Routes to the trusted publishers of projects and organizations.

import { OrganizationParams, ProjectParams } from '#features/basics/access/requests.ts'
import { requireViewer } from '#features/basics/authentication/access-control.ts'
import { parseId } from '#lib/ids.ts'
import { COSTS } from '#platform/http/route-config.ts'
import type { App } from '#platform/http/server.ts'
import { addPublisher, type PublisherDeps } from './add-publisher.ts'
import { getPublishers } from './publisher-overview.ts'
import type { OwnerName } from './publisher-owner.ts'
import { removePublisher } from './remove-publisher.ts'
import { NewPublisher, PublisherParams } from './requests.ts'
import { PublisherList, PublisherView, toPublisherView } from './views.ts'

const KINDS = [
  { kind: 'project', noun: 'Project', params: ProjectParams, read: 'PROJECT_READ', write: 'PROJECT_WRITE' },
  {
    kind: 'organization',
    noun: 'Organization',
    params: OrganizationParams,
    read: 'ORGANIZATION_READ',
    write: 'ORGANIZATION_WRITE',
  },
] as const

export function trustedPublisherRoutes(app: App, deps: PublisherDeps): void {
  for (const { kind, noun, params, read, write } of KINDS) {
    const path = `/v3/${kind}/:id/trusted-publisher`
    const nameOf = (id: string): OwnerName => ({ kind, name: id })
    const article = kind === 'project' ? 'a' : 'an'
    app.get(path, {
      config: { auth: { scope: [read] }, limitedTokens: 'resource', cache: 'private' },
      schema: {
        operationId: `list${noun}Publishers`,
        summary: `List the trusted publishers of ${article} ${kind}`,
        description: 'Members only. Contains the build services of this instance and warnings.',
        params,
        response: { 200: PublisherList },
      },
      handler: async (req) => {
        const {
          publishers,
          isBlocked: _,
          ...rest
        } = await getPublishers(deps, requireViewer(req), nameOf(req.params.id))
        return { ...rest, publishers: publishers.map(toPublisherView) }
      },
    })
    app.post(path, {
      config: { auth: { scope: [write] }, cost: COSTS.password },
      schema: {
        operationId: `add${noun}Publisher`,
        summary: `Add a trusted publisher to ${article} ${kind}`,
        description:
          'Members with UPLOAD_VERSION and EDIT_DETAILS only, who confirm their password. The member is the author of the versions; if they leave, the publisher stops. Notifies the owners.',
        params,
        body: NewPublisher,
        response: { 201: PublisherView },
      },
      handler: async (req, reply) => {
        const row = await addPublisher(deps, requireViewer(req), { ...nameOf(req.params.id), body: req.body })
        return reply.status(201).send(toPublisherView(row))
      },
    })
    app.delete(`${path}/:publisher_id`, {
      config: { auth: { scope: [write] }, limitedTokens: 'resource', errors: ['400 decoding_error'] },
      schema: {
        operationId: `remove${noun}Publisher`,
        summary: `Remove a trusted publisher of ${article} ${kind}`,
        description: 'Its tokens end immediately. Versions that it published remain.',
        params: PublisherParams[kind],
      },
      handler: async (req) => {
        const { id, publisher_id } = req.params
        await removePublisher(deps, requireViewer(req), { ...nameOf(id), id: parseId(publisher_id, 'publisher_id') })
      },
    })
  }
}
