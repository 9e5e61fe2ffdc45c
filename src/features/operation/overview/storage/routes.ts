// Operator routes of the storage.
import { operatorOf } from '#features/basics/audit/actor.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { loadStorage } from './load-storage.ts'
import { measureStorage } from './measure-storage.ts'
import { StorageView } from './views.ts'

export function storageRoutes(app: App, deps: Pick<Deps, 'db' | 'cache' | 'config'>): void {
  app.get('/admin/storage', {
    config: { auth: 'operator' },
    schema: {
      operationId: 'getStorage',
      summary: 'Get the usage and growth of the storage',
      description: 'A job measures the storage every day.',
      response: { 200: StorageView },
    },
    handler: () => loadStorage(deps),
  })
  app.post('/admin/storage/measure', {
    config: { auth: 'operator', whenReadOnly: 'answers' },
    schema: { operationId: 'measureStorage', summary: 'Measure the storage now, in the background' },
    handler: (req): Promise<void> => measureStorage(deps, operatorOf(req)),
  })
}
