// Error pages: what they say, which caches store them, and their compressed forms.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { testApp } from '#test/support/app/test-app.ts'
import { assertValidHtml } from '#test/support/http/html-page.ts'
import { assertSays } from '#test/support/http/visitor.ts'

const t = await testApp()
after(() => t.close())

const load = (url: string, headers: Record<string, string> = {}) =>
  t.inject({ method: 'GET', url, headers: { accept: 'text/html', 'user-agent': 'browser', ...headers } })

test('the page of a rejected visitor names whole seconds, in their language', async () => {
  t.freeze()
  for (let i = 0; i < 300; i += 1) await load('/account/sign-in')
  const refused = await load('/account/sign-in')
  assert.equal(refused.headers['retry-after'], '1')
  assertSays(refused, 429, 'Try again in 1 second.')
  assertSays(await load('/mods', { 'accept-language': 'de' }), 429, 'Versuche es in 1 Sekunde erneut.')
  for (const { body } of [refused]) assertValidHtml(body, 'error page')
  for (const path of ['/account/sign-in', '/mods', '/mod/none', '/none']) {
    const { statusCode, headers } = await load(path)
    assert.deepEqual([statusCode, headers['cache-control'], headers['etag']], [429, 'no-store', undefined], path)
  }
  t.thaw()
})

test('caches store no error page', async () => {
  t.advance(60_000)
  for (const path of ['/mod/none', '/user/none', '/none', '/account/none', '/mods?page=99999']) {
    const { statusCode, headers } = await load(path)
    assert.ok(statusCode >= 400, `${path}: ${statusCode}`)
    assert.equal(headers['cache-control'], 'no-store', path)
  }
})
