// The stored origin of an account: shortened, exported, replaced by the next sign-in, and forgotten after 90 days.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { DAY_MS } from '#lib/time.ts'
import { BYPASS_KEY, testApp } from '#test/support/app/test-app.ts'
import { PASSWORD } from '#test/support/http/account-steps.ts'
import { ORIGIN_MS } from './origins.ts'

const t = await testApp({ env: { CLIENT_ADDRESS_HEADER: 'x-client' } })
after(() => t.close())

const post = (url: string, payload: object, address: string, agent: string) =>
  t.inject({
    method: 'POST',
    url,
    payload,
    headers: { 'user-agent': agent, 'x-client': address, 'x-ratelimit-key': BYPASS_KEY },
  })

const account = { username: 'wanderer', email: 'wanderer@example.org', password: PASSWORD }

async function origins() {
  const { rows } = await t.deps.pool.query(
    `select event, address_range::text, user_agent from account_origin join account on id = account_id
     where username = $1 order by event`,
    [account.username],
  )
  return rows
}

test('an account has the shortened addresses and the programs of its sign-up and its last sign-in, for 90 days', async () => {
  const made = await post('/_internal/auth/create', account, '203.0.113.77', 'first/1.0')
  assert.equal(made.statusCode, 201, made.body)
  const first = { address_range: '203.0.113.0/24', user_agent: 'first/1.0' }
  assert.deepEqual(await origins(), [
    { event: 'sign_in', ...first },
    { event: 'sign_up', ...first },
  ])
  t.advance(DAY_MS)
  const login = { username: account.username, password: PASSWORD }
  const signedIn = await post('/_internal/auth/login', login, '2001:db8:1:2:3:4:5:6', `second/${'x'.repeat(600)}`)
  assert.equal(signedIn.statusCode, 200, signedIn.body)
  const second = { address_range: '2001:db8:1::/48', user_agent: `second/${'x'.repeat(505)}` }
  assert.deepEqual(await origins(), [
    { event: 'sign_in', ...second },
    { event: 'sign_up', ...first },
  ])
  const { origins: exported } = (
    await t.inject({
      method: 'POST',
      url: '/_internal/gdpr/export',
      headers: { authorization: signedIn.json().session, 'user-agent': 'tests/1', 'x-client': '203.0.113.77' },
    })
  ).json()
  assert.deepEqual(
    exported.map(({ at: _, ...rest }: { at: string }) => rest),
    await origins(),
  )
  t.advance(ORIGIN_MS - DAY_MS)
  await t.runJob('accounts.expire')
  assert.deepEqual(await origins(), [{ event: 'sign_in', ...second }])
  t.advance(DAY_MS)
  await t.runJob('accounts.expire')
  assert.deepEqual(await origins(), [])
})
