// A request, its SQL statements and the job that it causes form one trace, at the operator's receiver.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { makeDataDir, startDepot } from '#test/support/processes/running-depot.ts'
import { type ReceivedSpan, startTraceReceiver } from '#test/support/stand-ins/trace-receiver.ts'

const SECRET = 'somebody@example.org'
/** The trace that a caller names. */
const STRANGE = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`

test('a request by POST, its statements and its job arrive as one trace, without what people sent', async () => {
  const receiver = await startTraceReceiver()
  const { dataDir, remove } = makeDataDir()
  after(remove)
  const server = await startDepot(dataDir, {
    OTEL_EXPORTER_OTLP_ENDPOINT: `${receiver.endpoint}/`,
    OTEL_SERVICE_NAME: 'depot-under-test',
    OTEL_BSP_SCHEDULE_DELAY: '50',
  })
  try {
    const post = (path: string, body: object): Promise<Response> =>
      fetch(`${server.url}/_internal/auth/${path}`, {
        method: 'POST',
        headers: { 'user-agent': 'tests', 'content-type': 'application/json', traceparent: STRANGE },
        body: JSON.stringify(body),
      })
    const made = await post('create', { username: 'somebody', email: SECRET, password: 'violet-harbour-lantern-42' })
    assert.equal(made.status, 201, await made.text())
    const asked = await post(`password/reset?from=${SECRET}`, { username: SECRET })
    assert.ok(asked.ok, await asked.text())
    const isRequest = ({ attributes }: ReceivedSpan): boolean =>
      attributes['depot.operation'] === 'requestPasswordReset'
    const jobOf = (all: readonly ReceivedSpan[]): ReceivedSpan | undefined =>
      all.find(({ name, traceId }) => name === 'job accounts.send-mail' && traceId === all.find(isRequest)?.traceId)
    const spans = await receiver.until((all) => jobOf(all) !== undefined)
    const request = spans.find(isRequest)
    assert.equal(request?.name, 'POST /_internal/auth/password/reset')
    assert.equal(request?.attributes['http.response.status_code'], String(asked.status))
    assert.equal(request?.attributes['depot.request_id'], asked.headers.get('x-request-id'))
    assert.notEqual(request?.traceId, 'a'.repeat(32), 'a stranger does not choose the trace')
    const job = jobOf(spans)
    assert.equal(job?.parentSpanId, request?.spanId)
    const statements = spans.filter(({ traceId, kind }) => traceId === request?.traceId && kind === 3)
    assert.ok(
      statements.some(({ parentSpanId }) => parentSpanId === request?.spanId),
      'of the request',
    )
    assert.ok(
      statements.some(({ parentSpanId }) => parentSpanId === job?.spanId),
      'of the job',
    )
    assert.match(statements[0]?.attributes['db.query.text'] ?? '', /^\s*(select|insert|with|update)/i)
    assert.deepEqual([...new Set(spans.map(({ service }) => service))], ['depot-under-test'])
    assert.ok(!JSON.stringify(spans).includes(SECRET))
  } finally {
    await server.stop()
    receiver.close()
  }
})
