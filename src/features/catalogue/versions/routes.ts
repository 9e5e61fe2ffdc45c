// Routes to read, publish, edit and delete versions.
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { versionEditRoutes } from './lifecycle/routes.ts'
import { versionReadRoutes } from './lookup/routes.ts'
import { versionUploadRoutes } from './publish/routes.ts'

export function versionRoutes(app: App, deps: Deps): void {
  versionReadRoutes(app, deps)
  versionUploadRoutes(app, deps)
  versionEditRoutes(app, deps)
}
