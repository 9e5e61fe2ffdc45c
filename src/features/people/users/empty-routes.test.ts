import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { parseScopeNames } from '#features/basics/access/scopes.ts'
import { testApp } from '#test/support/app/test-app.ts'

const t = await testApp()
after(() => t.close())

test('friends, blocked users and preferences are empty, for callers who may read them', async () => {
  const [person, other] = await t.make.people(2)
  const moderator = await t.make.account({ role: 'moderator' })
  for (const path of ['/v3/friends', '/v3/blocks', `/v3/user/${person.username}/preferences`]) {
    const answer = await t.as(person).get(path)
    const expected = path.endsWith('preferences') ? {} : []
    assert.deepEqual([answer.statusCode, answer.json()], [200, expected], path)
    assert.match(String(answer.headers['cache-control']), /private/)
    assert.equal((await t.anyone.get(path)).statusCode, 401, path)
    const weak = await t.make.pat(person, parseScopeNames('USER_READ_EMAIL').bits)
    assert.equal((await t.as(weak).get(path)).statusCode, 403, path)
  }
  const path = `/v3/user/${person.id}/preferences`
  assert.equal((await t.as(other).get(path)).statusCode, 403)
  assert.deepEqual((await t.as(moderator).get(path)).json(), {})
  assert.equal((await t.as(moderator).get('/v3/user/nobody-here/preferences')).statusCode, 404)
})
