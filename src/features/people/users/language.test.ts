// The language of an account: from sign-up, the footer and the API.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { testApp } from '#test/support/app/test-app.ts'
import { assertError, assertRefusedValues, PASSWORD } from '#test/support/http/account-steps.ts'
import { visitor } from '#test/support/http/visitor.ts'

const t = await testApp()
after(() => t.close())

const CREATE = '/_internal/auth/create'
const fresh = (username: string) => ({ username, email: `${username}@example.org`, password: PASSWORD })
const languageOf = async (token: string) => (await t.as({ token }).get('/v3/user')).json().language
const sessionOf = (person: ReturnType<typeof visitor>) => person.cookies.get('__Host-depot-session') ?? ''

test('sign-up stores the language of the request, otherwise the best of Accept-Language, otherwise nothing', async () => {
  const create = async (username: string, body: object, accepted: string | undefined) => {
    const headers = accepted === undefined ? {} : { 'accept-language': accepted }
    const answer = await t.anyone.post(CREATE, { ...fresh(username), ...body }, { headers })
    assert.equal(answer.statusCode, 201, answer.body)
    return languageOf(answer.json().session)
  }
  assert.equal(await create('a1', { language: 'de' }, 'en'), 'de')
  assert.equal(await create('a2', {}, 'fr, de-AT;q=0.9, en;q=0.8'), 'de')
  assert.equal(await create('a3', {}, 'fr'), null)
  assert.equal(await create('a4', {}, undefined), null)
  await assertRefusedValues((body) => t.anyone.post(CREATE, body), { ...fresh('a5'), language: 'en' }, 'language', [
    'fr',
    'DE',
    '',
    5,
    'ar-XB',
  ])
})

test('the page of sign-up stores its language, and the choice in the footer changes it', async () => {
  const person = visitor(t)
  person.cookies.set('__Host-depot-language', 'de')
  const path = '/account/sign-up'
  assert.equal((await person.send(path, path, fresh('berta'))).statusCode, 303)
  assert.equal(await languageOf(sessionOf(person)), 'de')
  await person.post('/preferences', { theme: 'dark', language: 'en' })
  assert.equal(await languageOf(sessionOf(person)), 'en')
  await person.post('/preferences', { theme: 'dark', language: 'ar-XB' })
  await person.post('/preferences', { theme: 'dark' })
  assert.equal(await languageOf(sessionOf(person)), 'en')
  const other = await person.post('/preferences', { language: 'de' }, { 'sec-fetch-site': 'cross-site' })
  assert.equal(other.statusCode, 403)
  assert.equal(await languageOf(sessionOf(person)), 'en')
  // Users cannot choose the language for tests of the layout.
  const mirrored = visitor(t)
  mirrored.cookies.set('__Host-depot-language', 'ar-XB')
  await mirrored.send(path, path, fresh('carla'))
  assert.equal(await languageOf(sessionOf(mirrored)), null)
})

test('the user and admins read and change it; others do not see it', async () => {
  const [person, other, admin] = [
    await t.make.account(),
    await t.make.account(),
    await t.make.account({ role: 'admin' }),
  ]
  const patch = (who: { token: string }, language: unknown) => t.as(who).patch(`/v3/user/${person.id}`, { language })
  const seenBy = async (who: { token: string }) => (await t.as(who).get(`/v3/user/${person.id}`)).json()
  assert.equal((await patch(person, 'de')).statusCode, 204)
  assert.equal((await patch(person, null)).statusCode, 204)
  assert.equal((await seenBy(admin)).language, 'de')
  for (const who of [other, await t.make.account({ role: 'moderator' })])
    assert.ok(!('language' in (await seenBy(who))))
  assert.ok(!('language' in (await t.as(person).get('/v2/user')).json()))
  assertError(await patch(other, 'en'), 403, 'unauthorized')
  assertError(await patch(person, 'fr'), 400, 'validation_error', 'language')
  assert.equal((await patch(admin, 'en')).statusCode, 204)
  assert.equal((await t.as(person).post('/_internal/gdpr/export')).json().user.language, 'en')
})
