// The link of the first start creates one admin, once, and only if no admin exists.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { makeFirstAdminLink } from '#features/people/accounts/sign-up/create-first-admin.ts'
import { testApp } from '#test/support/app/test-app.ts'
import { assertSays, visitor } from '#test/support/http/visitor.ts'

const PATH = '/account/first-admin'
const PASSWORD = 'violet-harbour-lantern-42'
const fields = (username: string) => ({ username, email: `${username}@example.org`, password: PASSWORD })

const t = await testApp()
after(() => t.close())

const admins = () => t.deps.db.selectFrom('account').select('username').where('role', '=', 'admin').execute()

async function link(): Promise<string> {
  const secret = await makeFirstAdminLink(t.deps)
  assert.ok(secret !== undefined)
  return `${PATH}?flow=${secret}`
}

test('a wrong, replaced or day-old link creates no admin', async () => {
  const replaced = await link()
  const old = await link()
  t.advance(25 * 3_600_000)
  for (const path of [
    PATH,
    `${PATH}?flow=`,
    `${PATH}?flow=${'x'.repeat(54)}`,
    `${PATH}?flow=${'x'.repeat(500)}`,
    replaced,
    old,
  ]) {
    const answer = await visitor(t).send(path, PATH, fields('mallory'))
    assert.ok([400, 401].includes(answer.statusCode), `${path} ${answer.statusCode}`)
    assert.match(answer.body, /role="alert"|class="[^"]*bad/)
  }
  assert.deepEqual(await admins(), [])
})

test('a bad password or name is shown at its field, and the link stays valid; opening it changes nothing', async () => {
  const path = await link()
  const person = visitor(t)
  assert.equal((await person.get(path)).statusCode, 200)
  for (const wrong of [{ password: 'short' }, { username: 'a b' }, { email: 'nowhere' }]) {
    const answer = await person.send(path, PATH, { ...fields('olga'), ...wrong })
    assert.equal(answer.statusCode, 400)
    assert.ok(!answer.body.includes(PASSWORD), 'the password is not written into the page')
  }
  assert.deepEqual(await admins(), [])
})

test('concurrent requests create one admin, who is signed in; after that the link is invalid', async () => {
  const path = await link()
  const answers = await Promise.all(
    ['olga', 'oscar', 'otto', 'omar'].map(async (name) => {
      const person = visitor(t)
      return { person, answer: await person.send(path, PATH, fields(name)) }
    }),
  )
  const made = answers.filter(({ answer }) => answer.statusCode === 303)
  assert.equal(made.length, 1, answers.map(({ answer }) => answer.statusCode).join())
  assert.deepEqual(answers.filter(({ answer }) => answer.statusCode === 401).length, 3)
  assert.equal((await admins()).length, 1)
  assert.equal((await made[0]?.person.get('/account'))?.statusCode, 200)
  assert.equal(await makeFirstAdminLink(t.deps), undefined)
  for (const late of [await visitor(t).get(path), await visitor(t).send(path, PATH, fields('late'))])
    assertSays(late, 401, 'This instance already has an admin, so the link no longer works.')
})
