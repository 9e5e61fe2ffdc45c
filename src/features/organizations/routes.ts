// Organizations: reading, making, editing and deleting them, and the projects they own.

import { iconRoutes } from '#features/pictures/icon-routes.ts'
import type { App } from '#http/server.ts'
import type { Deps } from '#main/deps.ts'
import { organizationIconOwner } from './icon.ts'
import { organizationProjectRoutes } from './project-routes.ts'
import { organizationReads } from './read-routes.ts'
import { organizationWrites } from './write-routes.ts'

export function organizationRoutes(app: App, deps: Deps): void {
  organizationReads(app, deps)
  organizationWrites(app, deps)
  organizationProjectRoutes(app, deps)
  iconRoutes(app, deps, organizationIconOwner(deps.db))
}
