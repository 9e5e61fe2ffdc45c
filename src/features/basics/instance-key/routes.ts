import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { listInstanceKeys } from './instance-keys.ts'
import { InstanceKeysView, toInstanceKeysView } from './views.ts'

export function instanceKeyRoutes(app: App, deps: Pick<Deps, 'db' | 'now' | 'config'>): void {
  app.get('/v3/instance/key', {
    config: { auth: 'public', cache: 'shared', withoutPage: 'For programs and monitoring' },
    schema: {
      operationId: 'listInstanceKeys',
      summary: 'Get the public keys of this instance, newest first',
      description:
        'The instance signs webhooks and exports with the first key. A key that was replaced stays in the list for 90 days.',
      response: { 200: InstanceKeysView },
    },
    handler: async () => toInstanceKeysView(await listInstanceKeys(deps), deps.config.http.baseUrl),
  })
}
