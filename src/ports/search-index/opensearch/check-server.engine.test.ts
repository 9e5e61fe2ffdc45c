// Error messages of a start with an unsuitable OPENSEARCH_URL. A fake server sends the responses of servers that cannot
// run here.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, type TestContext, test } from 'node:test'
import { OperatorError } from '#lib/operator-error.ts'
import { startOpenSearch } from '#test/support/engines/opensearch.ts'
import { checkOpenSearch } from './check-server.ts'

const engine = await startOpenSearch()
const skip = typeof engine === 'string' ? engine : false
after(() => (typeof engine === 'string' ? undefined : engine.stop()))

/** A server that answers everything with that. */
async function standIn(t: TestContext, status: number, body: object): Promise<string> {
  const server = createServer((_req, res) => {
    res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => void server.close())
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

const refusal = (type: string) => ({ error: { type, reason: 'no permissions', root_cause: [] }, status: 403 })
const says = (pattern: RegExp) => (error: unknown) => error instanceof OperatorError && pattern.test(error.message)

test('a real engine passes, and nothing is left of the check', { skip }, async () => {
  assert.ok(typeof engine !== 'string')
  const prefix = engine.prefix()
  assert.equal(await checkOpenSearch({ url: engine.url, prefix }), undefined)
  const left = await fetch(`${engine.url}/${prefix}*`)
  assert.deepEqual(await left.json(), {})
})

test('an index of the name that the alias needs is rejected', { skip }, async () => {
  assert.ok(typeof engine !== 'string')
  const prefix = engine.prefix()
  await fetch(`${engine.url}/${prefix}`, { method: 'PUT' })
  await assert.rejects(checkOpenSearch({ url: engine.url, prefix }), says(/An index named .* exists/))
})

test('an old version, another product, a wrong password and a missing right are named', async (t) => {
  const version = (distribution: string | undefined, number: string) => ({ version: { distribution, number } })
  const cases: [number, object, RegExp][] = [
    [200, version('opensearch', '2.18.0'), /OpenSearch 2\.18\.0; Depot needs 2\.19/],
    [200, version(undefined, '8.15.0'), /not OpenSearch/],
    [200, {}, /not OpenSearch/],
    [401, {}, /user or password is wrong/],
    [403, refusal('security_exception'), /lacks a permission.*docs\/operators\/engines\/opensearch\.md/],
    [404, {}, /does not respond/],
  ]
  for (const [status, body, pattern] of cases) {
    const url = `http://someone:secret-word@${await standIn(t, status, body)}`
    await assert.rejects(checkOpenSearch({ url, prefix: 'depot' }), (error) => {
      assert.ok(!String(error).includes('secret-word'))
      return says(pattern)(error)
    })
  }
})

test('names an insecure connection; an unavailable engine is a different error', async (t) => {
  const address = await standIn(t, 200, {})
  await assert.rejects(checkOpenSearch({ url: `https://${address}`, prefix: 'depot' }), says(/no secure connection/))
  assert.match((await checkOpenSearch({ url: 'http://127.0.0.1:1', prefix: 'depot' })) ?? '', /ECONNREFUSED|connect/)
})
