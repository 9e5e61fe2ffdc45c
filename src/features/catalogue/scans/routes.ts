// Routes to scan results, for members of the project, and to override them, for moderators.

import { requireMember } from '#features/basics/access/project-policy.ts'
import { requireViewer } from '#features/basics/authentication/access-control.ts'
import { getVersionAsMember } from '#features/catalogue/versions/lookup/version-cache.ts'
import { parseId } from '#lib/ids.ts'
import { mountInternal } from '#platform/http/mounts.ts'
import { IdParams } from '#platform/http/query-values.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { overrideScan, repeatScan } from './override-scan.ts'
import { countScans, findScan, listScans } from './queries.ts'
import { ScansQuery } from './requests.ts'
import { ScanListView, ScanView, toListedScanView, toScanView } from './views.ts'

export function scanRoutes(app: App, deps: Deps): void {
  memberRoute(app, deps)
  mountInternal(app, (scope) => moderatorRoutes(scope, deps))
}

function memberRoute(app: App, deps: Deps): void {
  app.get('/v3/version/:id/scan', {
    config: { auth: { scope: ['VERSION_READ'] }, limitedTokens: 'versions', cache: 'private' },
    schema: {
      operationId: 'getVersionScan',
      summary: "Get the scan result of a version's files",
      description: 'Only for members of the project and moderators.',
      params: IdParams,
      response: { 200: ScanView },
    },
    handler: async (req) => {
      const viewer = requireViewer(req)
      const { version, membership } = await getVersionAsMember(deps, viewer, parseId(req.params.id, 'id'))
      requireMember(viewer, membership)
      return toScanView(version.id, await findScan(deps.db, version.id))
    },
  })
}

function moderatorRoutes(app: App, deps: Deps): void {
  app.get('/moderation/scans', {
    config: { auth: { scope: ['VERSION_READ'] }, role: 'moderator' },
    schema: {
      operationId: 'listVersionScans',
      summary: 'List the scans of versions, longest waiting first',
      querystring: ScansQuery,
      response: { 200: ScanListView },
    },
    handler: async (req) => {
      const { state = 'quarantine', count = 100, offset = 0, query = '' } = req.query
      const text = query.trim()
      const counts = await countScans(deps.db, { text })
      const scans = await listScans(deps.db, { state, count, offset, text })
      return { total: counts[state], counts, scans: scans.map(toListedScanView) }
    },
  })
  const config = { auth: { scope: ['VERSION_WRITE'] }, role: 'moderator' } as const
  app.post('/moderation/scans/:id/release', {
    config,
    schema: {
      operationId: 'releaseVersion',
      summary: 'Release a version that the scanner holds back',
      description: 'Keeps the findings of the scanner. Adds an entry to the audit log.',
      params: IdParams,
    },
    handler: (req): Promise<void> => overrideScan(deps, requireViewer(req), parseId(req.params.id, 'id')),
  })
  app.post('/moderation/scans/:id/repeat', {
    config,
    schema: {
      operationId: 'repeatVersionScan',
      summary: 'Scan the files of a version again',
      description: 'A public version stays public until the verdict.',
      params: IdParams,
    },
    handler: (req): Promise<void> => repeatScan(deps, parseId(req.params.id, 'id')),
  })
}
