// The caller's limits for projects, organizations and collections.
import { requireViewer } from '#platform/http/auth/auth.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { getQuota, QUOTA_KINDS, type QuotaKind } from './quota.ts'
import { QuotaView } from './views.ts'

const OPERATION: Record<QuotaKind, string> = {
  projects: 'getProjectLimit',
  organizations: 'getOrganizationLimit',
  collections: 'getCollectionLimit',
}

export function limitRoutes(app: App, deps: Pick<Deps, 'db' | 'config'>): void {
  for (const kind of QUOTA_KINDS) {
    app.get(
      `/v3/limits/${kind}`,
      {
        config: { auth: { scope: [] }, cache: 'private' },
        schema: {
          operationId: OPERATION[kind],
          summary: `Get the number of ${kind} that the caller owns, and the limit`,
          response: { 200: QuotaView },
        },
      },
      (req) => getQuota(deps.db, deps.config, requireViewer(req), kind),
    )
  }
}
