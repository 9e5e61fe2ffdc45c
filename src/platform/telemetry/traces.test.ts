// Traces without a configuration, as part of a caller's trace, and after the receiver failed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTraceReceiver } from '#test/support/stand-ins/trace-receiver.ts'
import { silentLog } from './log.ts'
import { startTraces, traceJob, traceRequest, withTrace } from './traces.ts'

const OPTIONS = { serviceName: 'depot', version: '0.0.0', followsCallers: true }
const ANSWER = { method: 'GET', route: '/v3/thing/:id', operation: 'getThing', status: 503, requestId: 'r' }
const given = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`

test('without a receiver nothing is traced, and payloads stay as they are', async () => {
  const stop = await startTraces({ ...OPTIONS, endpoint: undefined }, silentLog())
  const payload = { account_id: 'x' }
  assert.equal(traceRequest('GET', {}), undefined)
  assert.equal(withTrace(payload), payload)
  // A job that a traced process has written is done by one that traces nothing.
  assert.deepEqual(await traceJob('some.job', { ...payload, _trace: given }, async (own) => own), payload)
  await stop()
})

test('a trusted caller’s trace continues, and shutdown sends the last spans', async () => {
  const receiver = await startTraceReceiver()
  const stop = await startTraces({ ...OPTIONS, endpoint: receiver.endpoint }, silentLog())
  const trace = traceRequest('GET', { traceparent: given })
  let payload: Record<string, unknown> = {}
  trace?.run(() => {
    payload = withTrace({ a: 1 })
  })
  trace?.end(ANSWER)
  assert.equal(String(payload['_trace']).slice(3, 35), 'a'.repeat(32))
  await assert.rejects(
    traceJob('some.job', payload, async (own) => {
      assert.deepEqual(own, { a: 1 })
      throw new Error('not done')
    }),
    /not done/,
  )
  await stop()
  const spans = await receiver.until((all) => all.length > 0)
  assert.deepEqual(
    spans.map(({ name, traceId }) => [name, traceId]),
    [
      ['GET /v3/thing/:id', 'a'.repeat(32)],
      ['job some.job', 'a'.repeat(32)],
    ],
  )
  receiver.close()
})

test('a lost receiver does not delay shutdown', async () => {
  const receiver = await startTraceReceiver()
  receiver.close()
  const stop = await startTraces({ ...OPTIONS, endpoint: receiver.endpoint }, silentLog())
  traceRequest('GET', {})?.end(ANSWER)
  await stop()
})
