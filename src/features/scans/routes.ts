// Verdicts of the scanner: for members of the project, and for moderators, who may overrule it.
import Type from 'typebox'
import { isMember } from '#features/access/project-policy.ts'
import { getVersionAsMember } from '#features/versions/lookup/version-cache.ts'
import { done } from '#http/answers.ts'
import { requireViewer } from '#http/auth.ts'
import { mountInternal } from '#http/mounts.ts'
import { IdParams, Offset } from '#http/query-values.ts'
import type { App } from '#http/server.ts'
import { forbidden } from '#lib/errors.ts'
import { parseId } from '#lib/ids.ts'
import { isModerator } from '#lib/viewer.ts'
import type { Deps } from '#main/deps.ts'
import { releaseVersion, repeatScan } from './override-scan.ts'
import { findScan, listScans } from './queries.ts'
import { SCAN_STATES, ScanListView, ScanView, toListedScanView, toScanView } from './views.ts'

const ScansQuery = Type.Object({
  state: Type.Optional(
    Type.Enum([...SCAN_STATES], { default: 'quarantine', description: 'The verdict; `pending` has none yet' }),
  ),
  count: Type.Optional(Type.Integer({ minimum: 0, maximum: 200, default: 100, description: 'Versions on a page' })),
  offset: Offset,
})

export function scanRoutes(app: App, deps: Deps): void {
  memberRoute(app, deps)
  mountInternal(app, (scope) => moderatorRoutes(scope, deps))
}

function memberRoute(app: App, deps: Deps): void {
  app.get(
    '/v3/version/:id/scan',
    {
      config: { auth: { scope: ['VERSION_READ'] }, cache: 'private' },
      schema: {
        operationId: 'getVersionScan',
        summary: "What the scanner says of a version's files",
        description: 'For members of its project and for moderators.',
        params: IdParams,
        response: { 200: ScanView },
      },
    },
    async (req) => {
      const viewer = requireViewer(req)
      const { version, membership } = await getVersionAsMember(deps, viewer, parseId(req.params.id, 'id'))
      if (!isMember(membership) && !isModerator(viewer)) throw forbidden('You are no member of this project')
      return toScanView(version.id, await findScan(deps.db, version.id))
    },
  )
}

function moderatorRoutes(app: App, deps: Deps): void {
  app.get(
    '/moderation/scans',
    {
      config: { auth: { scope: ['VERSION_READ'] }, role: 'moderator' },
      schema: {
        operationId: 'listVersionScans',
        summary: 'Versions whose files were judged or wait for it, the longest waiting first',
        querystring: ScansQuery,
        response: { 200: ScanListView },
      },
    },
    async (req) => {
      const { state = 'quarantine', count = 100, offset = 0 } = req.query
      const { total, scans } = await listScans(deps.db, { state, count, offset })
      return { total, scans: scans.map(toListedScanView) }
    },
  )
  const config = { auth: { scope: ['VERSION_WRITE'] }, role: 'moderator' } as const
  app.post(
    '/moderation/scans/:id/release',
    {
      config,
      schema: {
        operationId: 'releaseVersion',
        summary: 'Let a version pass that the scanner holds',
        params: IdParams,
      },
    },
    async (req, reply) => {
      await releaseVersion(deps, requireViewer(req), parseId(req.params.id, 'id'))
      return done(reply)
    },
  )
  app.post(
    '/moderation/scans/:id/repeat',
    {
      config,
      schema: {
        operationId: 'repeatVersionScan',
        summary: "Have a version's files judged again",
        params: IdParams,
      },
    },
    async (req, reply) => {
      await repeatScan(deps, parseId(req.params.id, 'id'))
      return done(reply)
    },
  )
}
