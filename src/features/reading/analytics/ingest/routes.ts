// Routes for reports from pages, launchers and affiliate links. A valid report gets 204 even if it is not counted.

import { requireViewer } from '#features/basics/authentication/access-control.ts'
import type { App } from '#platform/http/server.ts'
import { AffiliateClick, PageView, Playtime } from '../requests.ts'
import { recordPlaytime } from './record-playtime.ts'
import { recordAffiliateClick, recordView, type ViewDeps } from './record-view.ts'

export function analyticsIngestRoutes(app: App, deps: ViewDeps): void {
  app.post('/analytics/view', {
    config: {
      auth: { read: ['PROJECT_READ'] },
      limitedTokens: 'resource',
      withoutPage: 'For launchers and the service itself',
    },
    schema: { operationId: 'reportView', summary: 'Report a page view', body: PageView },
    handler: async (req) => {
      const { url, referrer } = req.body
      const caller = { address: req.clientAddress, headers: req.headers }
      await recordView(deps, req.viewer, { url, referrer: referrer ?? undefined, caller })
    },
  })
  app.post('/analytics/playtime', {
    config: {
      auth: { scope: ['PERFORM_ANALYTICS'] },
      whenReadOnly: 'answers',
      withoutPage: 'For launchers and the service itself',
    },
    schema: {
      operationId: 'reportPlaytime',
      summary: 'Report playtime of versions',
      description: 'Counts at most 14,400 seconds per account and hour.',
      body: Playtime,
    },
    handler: (req): Promise<void> => recordPlaytime(deps, requireViewer(req), req.body),
  })
  app.post('/analytics/affiliate-click', {
    config: { auth: 'public', whenReadOnly: 'answers', withoutPage: 'For launchers and the service itself' },
    schema: {
      operationId: 'reportAffiliateClick',
      summary: 'Report a click on an affiliate link',
      body: AffiliateClick,
    },
    handler: async (req) => {
      const { url, affiliate_code_id } = req.body
      const caller = { address: req.clientAddress, headers: req.headers }
      await recordAffiliateClick(deps, { url, affiliate_code_id, caller })
    },
  })
}
