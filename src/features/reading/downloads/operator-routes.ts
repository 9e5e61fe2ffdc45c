// Routes for a CDN that reports downloads which it served from its cache.

import { validationError } from '#lib/errors.ts'
import { mountInternal } from '#platform/http/mounts.ts'
import type { App } from '#platform/http/server.ts'
import { countReportedDownloads } from './count-reported.ts'
import type { DownloadDeps } from './record-download.ts'
import { CountedDownloads, ReportedDownload, ReportedDownloads } from './requests.ts'

const config = { auth: 'operator' } as const

export function downloadOperatorRoutes(app: App, deps: DownloadDeps): void {
  mountInternal(
    app,
    (scope) => {
      batchRoute(scope, deps)
      singleRoute(scope, deps)
    },
    // The path that existing edge workers use.
    { alsoUnder: ['/v2'] },
  )
}

function batchRoute(app: App, deps: DownloadDeps): void {
  app.post('/admin/downloads', {
    config: { ...config, withoutPage: 'For a CDN or a shop of the operator' },
    schema: {
      operationId: 'countDownloads',
      summary: 'Report downloads that a CDN served from its cache',
      description: 'Applies the rules of the file route. Does not detect duplicates: a repeated report counts twice.',
      body: ReportedDownloads,
      response: { 200: CountedDownloads },
    },
    handler: (req) => {
      const located = req.body.downloads.map((report, i) => ({ report, field: `downloads.${i}.` }))
      return countReportedDownloads(deps, located)
    },
  })
}

function singleRoute(app: App, deps: DownloadDeps): void {
  app.patch('/admin/_count-download', {
    config,
    schema: {
      operationId: 'countDownload',
      hide: true,
      summary: 'Count one download in the format of existing edge workers',
      body: ReportedDownload,
    },
    handler: async (req) => {
      const { unknown } = await countReportedDownloads(deps, [{ report: req.body, field: '' }])
      if (unknown > 0) throw validationError('url', 'must be the URL of a file')
    },
  })
}
