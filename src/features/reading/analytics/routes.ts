// The route for analytics queries.

import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { requireScope, requireViewer } from '#features/basics/authentication/access-control.ts'
import { prefersCsv } from '#platform/http/preferred-type.ts'
import { sendRaw } from '#platform/http/responses/declared-responses.ts'
import { COSTS } from '#platform/http/route-config.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { runAnalyticsQuery } from './query/run-query.ts'
import { writeCsv, writeJson } from './query/write-response.ts'
import { AnalyticsQueryBody, needsPayoutsRead, parseAnalyticsQuery } from './requests.ts'
import { AnalyticsResponse } from './views.ts'

export function analyticsRoutes(app: App, deps: Pick<Deps, 'db' | 'analytics'>): void {
  app.post('/v3/analytics', {
    config: {
      auth: { scope: ['ANALYTICS'] },
      limitedTokens: 'resource',
      keepProtoKeys: true,
      cost: COSTS.analytics,
      whenReadOnly: 'answers',
      errors: ['500 analytics_database_error'],
    },
    schema: {
      operationId: 'queryAnalytics',
      summary: 'Query views, downloads, playtime, revenue and affiliate metrics by time slice',
      description:
        'Covers the projects on which the caller has VIEW_ANALYTICS, and the affiliate codes of the caller. ' +
        'Returns CSV if the request has `Accept: text/csv`.',
      body: AnalyticsQueryBody,
      produces: ['application/json', 'text/csv'],
      response: { 200: AnalyticsResponse },
    },
    handler: async (req, reply) => {
      const viewer = requireViewer(req)
      const query = parseAnalyticsQuery(req.body)
      if (needsPayoutsRead(query)) requireScope(viewer, 'PAYOUTS_READ')
      const slices = await runAnalyticsQuery(deps, viewer, { query, signal: abortOnDisconnect(reply) })
      void reply.header('vary', 'Accept')
      if (!prefersCsv(req.headers.accept, 'application/json'))
        return sendPieces(reply.type('application/json; charset=utf-8'), writeJson(slices))
      void reply.header('content-disposition', 'attachment; filename="analytics.csv"')
      return sendPieces(reply.type('text/csv; charset=utf-8'), writeCsv(query, slices))
    },
  })
}

/**
 * Returns a signal that aborts if the client disconnects before the response is sent. `req.signal` cannot be used: it
 * aborts as soon as the request body is read.
 */
function abortOnDisconnect(reply: FastifyReply): AbortSignal {
  const controller = new AbortController()
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) controller.abort(new Error('The client disconnected'))
  })
  return controller.signal
}

/** Sends a response of one piece as a buffer, and a larger one as a stream. */
async function sendPieces(reply: FastifyReply, pieces: AsyncGenerator<string>): Promise<never> {
  const first = await pieces.next()
  const second = await pieces.next()
  const start = first.done === true ? '' : first.value
  if (second.done === true) return sendRaw(reply, Buffer.from(start))
  async function* all(): AsyncGenerator<string> {
    yield start
    yield second.value
    yield* pieces
  }
  return sendRaw(reply, Readable.from(all(), { objectMode: false }))
}
