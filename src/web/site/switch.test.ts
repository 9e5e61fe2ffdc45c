import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { testApp } from '#test/support/app/test-app.ts'
import { visitor } from '#test/support/http/visitor.ts'

const t = await testApp({ env: { SITE: 'off' } })
after(() => t.close())

test('an operator can have the API alone; the account pages stay', async () => {
  const someone = visitor(t)
  const root = await someone.get('/')
  assert.match(String(root.headers['content-type']), /json/)
  for (const path of ['/mods', '/search', '/mod/x', '/user/x', '/sitemap.xml']) {
    const answer = await someone.get(path)
    assert.deepEqual([answer.statusCode, answer.json().error], [404, 'not_found'], path)
  }
  assert.equal((await someone.get('/account/sign-in')).statusCode, 200)
})
