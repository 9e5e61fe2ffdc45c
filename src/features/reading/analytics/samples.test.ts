// Requests for the tests of all operations.
import type { Sample } from '#test/api/operations/sample.ts'
import { aView } from '#test/support/factories/analytics-events.ts'

export const SAMPLES: Record<string, Sample> = {
  reportView: { body: async (w) => ({ url: `https://depot.test/project/${await w.id('project')}` }) },
  reportPlaytime: { body: async (w) => ({ [await w.id('version')]: { seconds: 60 } }) },
  reportAffiliateClick: {
    body: async (w) => ({ url: 'https://depot.test/', affiliate_code_id: await w.id('affiliateCode') }),
  },
  queryAnalytics: {
    body: {
      time_range: { start: '2026-01-01T00:00:00Z', end: '2026-01-02T00:00:00Z', resolution: { slices: 2 } },
      return_metrics: { project_views: { bucket_by: ['project_id'] } },
    },
    before: async (w) => {
      const recorded_at = Date.UTC(2026, 0, 1, 6)
      w.t.deps.events.add('view', aView({ project_id: await w.id('project'), recorded_at }))
      await w.t.deps.events.flush()
    },
  },
}
