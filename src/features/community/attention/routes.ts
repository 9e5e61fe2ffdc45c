// Routes to the attention list of a publisher.

import { UserParams } from '#features/basics/access/requests.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { requireViewer } from '#features/basics/authentication/access-control.ts'
import { getProjectAsMember } from '#features/catalogue/projects/lookup/project-cache.ts'
import { getCachedUser } from '#features/people/users/user-cache.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { dismissItem, listAttention, restoreItem } from './list-attention.ts'
import { requireOwnList } from './policy.ts'
import { ItemParams, parseItem } from './requests.ts'
import { AttentionView, DismissalView } from './views.ts'

export function attentionRoutes(app: App, deps: Deps): void {
  const requireSelf = async (viewer: Viewer, name: string): Promise<void> =>
    requireOwnList(viewer, (await getCachedUser(deps, name)).id)
  app.get('/v3/user/:id/attention', {
    config: { auth: { scope: ['PROJECT_READ', 'THREAD_READ', 'NOTIFICATION_READ'] }, cache: 'private' },
    schema: {
      operationId: 'listAttention',
      summary: 'List the items that need the attention of a publisher',
      description: 'Only for the user themselves.',
      params: UserParams,
      response: { 200: AttentionView },
    },
    handler: async (req) => {
      const viewer = requireViewer(req)
      await requireSelf(viewer, req.params.id)
      return { items: await listAttention(deps, viewer) }
    },
  })
  const config = { auth: { scope: ['NOTIFICATION_WRITE'] } } as const
  app.put('/v3/user/:id/attention/:item/dismissal', {
    config: { ...config, errors: ['400 decoding_error'] },
    schema: {
      operationId: 'dismissAttention',
      summary: 'Hide an item of the attention list for 30 days',
      params: ItemParams,
      response: { 200: DismissalView },
    },
    handler: async (req) => {
      const viewer = requireViewer(req)
      const item = parseItem(req.params.item)
      await requireSelf(viewer, req.params.id)
      await getProjectAsMember(deps, viewer, item.projectId)
      return { until: (await dismissItem(deps, viewer, item)).toISOString() }
    },
  })
  app.delete('/v3/user/:id/attention/:item/dismissal', {
    config: { ...config, errors: ['400 decoding_error'] },
    schema: {
      operationId: 'restoreAttention',
      summary: 'Show a hidden item of the attention list again',
      params: ItemParams,
    },
    handler: async (req) => {
      const viewer = requireViewer(req)
      const item = parseItem(req.params.item)
      await requireSelf(viewer, req.params.id)
      await restoreItem(deps, viewer, item)
    },
  })
}
