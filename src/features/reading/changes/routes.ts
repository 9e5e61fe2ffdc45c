// The routes of the change feed, which programs read to follow the public catalogue.
import { callerOf } from '#platform/http/limits/client-address.ts'
import { sendRaw } from '#platform/http/responses/declared-responses.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { createChangeStreams } from './change-stream.ts'
import { CHANGES_PATH, listChanges } from './list-changes.ts'
import { ChangeStreamHeaders, ChangeStreamQuery, ChangesQuery, readCursor, readKinds } from './requests.ts'
import { ChangesView } from './views.ts'

export function changeRoutes(app: App, deps: Pick<Deps, 'db' | 'log' | 'metrics'>): void {
  app.get(CHANGES_PATH, {
    config: {
      auth: 'public',
      cache: 'shared',
      errors: ['410 cursor_expired'],
      withoutPage: 'For programs; pages have Atom feeds',
    },
    schema: {
      operationId: 'listChanges',
      summary: 'List the changes of the public catalogue',
      description:
        'Lists the public projects, versions, users, organizations, collections and advisories that became public, changed or ' +
        'were removed, in the order of the commits. Each object has one entry, its latest. Without `since`, the list starts ' +
        'with the oldest entry and contains the whole public catalogue. Request again with `since` = `next` while `more` ' +
        'is true, and later to get new changes. Counters, such as downloads, are not changes.',
      querystring: ChangesQuery,
      response: { 200: ChangesView },
    },
    handler: ({ query: { since, limit = 100, kinds } }) =>
      listChanges(deps, { since: readCursor(since, 'since'), limit, kinds: readKinds(kinds) }),
  })

  const streams = createChangeStreams(deps, () => app.isDraining())
  app.addHook('preClose', (done) => {
    streams.close()
    done()
  })
  app.get(`${CHANGES_PATH}/stream`, {
    config: { auth: 'public', withoutPage: 'For programs; pages have Atom feeds' },
    schema: {
      operationId: 'streamChanges',
      summary: 'Stream the changes of the public catalogue as server-sent events',
      description:
        'The event `change` has the data of an entry of `GET /v3/changes`, and its cursor as ID. If the cursor cannot be ' +
        'continued, the event `expired` ends the stream. A client can have 4 streams.',
      querystring: ChangeStreamQuery,
      headers: ChangeStreamHeaders,
      produces: ['text/event-stream'],
      response: {},
    },
    handler: async (req, reply) => {
      const lastEventId = req.headers['last-event-id']
      const since =
        lastEventId === undefined ? readCursor(req.query.since, 'since') : readCursor(lastEventId, 'last-event-id')
      const stream = await streams.open(callerOf(req), since, readKinds(req.query.kinds))
      void reply
        .type('text/event-stream; charset=utf-8')
        .header('cache-control', 'no-store')
        // An ended stream must not keep its connection open while the server stops.
        .header('connection', 'close')
        // Proxies would collect the events (nginx).
        .header('x-accel-buffering', 'no')
      return sendRaw(reply, stream)
    },
  })
}
