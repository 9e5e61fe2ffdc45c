// A deprecated operation announces its end in its responses, in the API description and in the log.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLogTo } from '#platform/telemetry/log.ts'
import { testApp } from '#test/support/app/test-app.ts'

test('a deprecated operation announces its end', async () => {
  const lines: string[] = []
  const log = createLogTo({ write: (line: string) => void lines.push(line) }, 'warn')
  const t = await testApp({
    deps: () => ({ log }),
    watch: (app) => {
      const deprecated = { since: '2026-11-24', sunset: '2027-11-24', instead: '`GET /v3/new`' }
      const config = { auth: 'public', deprecated } as const
      const schema = { operationId: 'getOld', description: 'Gets something.' }
      app.get('/v3/old', { config, schema }, async () => 'old')
    },
  })
  for (let n = 0; n < 2; n += 1) {
    const { headers } = await t.anyone.get('/v3/old', { headers: { 'user-agent': 'old-client/1.0' } })
    assert.deepEqual([headers['deprecation'], headers['sunset']], ['@1795478400', 'Wed, 24 Nov 2027 00:00:00 GMT'])
    assert.match(String(headers['access-control-expose-headers']), /, Deprecation, Sunset$/)
  }
  assert.equal((await t.anyone.get('/')).headers['deprecation'], undefined)
  const logged = lines.filter((line) => line.includes('deprecated'))
  assert.equal(logged.length, 1)
  assert.match(logged[0] ?? '', /"operation":"getOld","user_agent":"old-client\/1\.0"/)
  const { get } = (await t.anyone.get('/docs/openapi.json')).json().paths['/v3/old']
  assert.equal(get.deprecated, true)
  assert.match(
    get.description,
    /^Gets something\.\n\nDeprecated since 2026-11-24, .*`GET \/v3\/new`\.\n\nRequires no token\.$/,
  )
  await t.close()
})
