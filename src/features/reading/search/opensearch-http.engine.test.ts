// Depot with OpenSearch from the view of clients and operators, with and without a running engine.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MINUTE_MS } from '#lib/time.ts'
import { testApp } from '#test/support/app/test-app.ts'
import { startOpenSearch } from '#test/support/engines/opensearch.ts'
import { startProxy } from '#test/support/stand-ins/slow-proxy.ts'

const engine = await startOpenSearch()
const skip = typeof engine === 'string' ? engine : false

test('OpenSearch serves searches; without it, only search is unavailable and reports it', { skip }, async (context) => {
  assert.ok(typeof engine !== 'string')
  const proxy = await startProxy(engine.url)
  const t = await testApp({ env: { OPENSEARCH_URL: proxy.url, OPENSEARCH_INDEX: engine.prefix() } })
  context.after(async () => {
    await t.close()
    await proxy.close()
    await engine.stop()
  })
  const project = await t.make.project({ name: 'Harbour Crane' })
  await t.deps.search.caughtUp()
  const found = await t.anyone.get('/v3/search?query=harbour&facets=[["project_type:mod","open_source:true"]]')
  assert.deepEqual([found.statusCode, found.json().hits.length], [200, found.json().total_hits])
  const all = await t.anyone.get('/v3/search?query=harbor%20crane')
  assert.equal(all.json().hits[0].project_id, project.id)
  assert.equal((await t.anyone.get('/v3/search?new_filters=nonsense')).statusCode, 400)
  const ready = (await t.anyone.get('/ready')).json()
  assert.deepEqual(ready.dependencies.search, { status: 'ok', state: 'ready' })
  const metrics = (await t.anyone.get('/metrics')).body
  assert.match(metrics, /depot_search_feeding 1/)
  assert.match(metrics, /depot_search_engine_seconds_count\{kind="search",outcome="success"\} [1-9]/)

  proxy.become('refuse')
  const refused = await t.anyone.get('/v3/search?query=harbour')
  assert.deepEqual(
    [refused.statusCode, refused.json().error, refused.headers['retry-after']],
    [503, 'service_unavailable', '5'],
  )
  assert.equal((await t.anyone.get(`/v3/project/${project.slug}`)).statusCode, 200)
  const renamed = await t.as(project.owner).patch(`/v3/project/${project.id}`, { name: 'Harbour Gantry' })
  assert.equal(renamed.statusCode, 204)
  assert.equal((await t.deps.search.state()).state, 'failing')

  proxy.become('pass')
  await t.deps.search.caughtUp()
  const back = async () => (await t.anyone.get('/v3/search?query=gantry')).json()
  // The first second after a failure is left to one search.
  let answer = await back()
  for (const end = performance.now() + MINUTE_MS; answer.hits === undefined && performance.now() < end; )
    answer = await back()
  assert.deepEqual(
    answer.hits.map(({ name }: { name: string }) => name),
    ['Harbour Gantry'],
  )
})
