// The route to the figures about the review queue, for moderators.
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { listDecisionDays, listModeratorDecisions, medianWait, readBacklog } from './queries.ts'
import { QueueStatisticsView, toQueueStatistics } from './views.ts'

export function queueStatisticsRoute(app: App, deps: Pick<Deps, 'db' | 'now'>): void {
  app.get('/moderation/statistics', {
    config: { auth: { scope: ['PROJECT_READ'] }, role: 'moderator' },
    schema: {
      operationId: 'getQueueStatistics',
      summary: 'Get figures about the moderation queue',
      response: { 200: QueueStatisticsView },
    },
    handler: () => readQueueStatistics(deps),
  })
}

/** Reads all figures. */
export async function readQueueStatistics({ db, now }: Pick<Deps, 'db' | 'now'>) {
  const at = now()
  const [backlog, days, moderators, median] = await Promise.all([
    readBacklog(db, at),
    listDecisionDays(db, at),
    listModeratorDecisions(db, at),
    medianWait(db, at),
  ])
  return toQueueStatistics({ backlog, days, moderators, median })
}
