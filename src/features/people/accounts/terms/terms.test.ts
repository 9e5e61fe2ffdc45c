// Consent to the Terms: at sign-up, and again when a new version asks.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { testApp } from '#test/support/app/test-app.ts'
import { assertError, assertRefusedValues, PASSWORD, statuses } from '#test/support/http/account-steps.ts'
import { visitor } from '#test/support/http/visitor.ts'

const CREATE = '/_internal/auth/create'
const TERMS = '/_internal/auth/terms'

const t = await testApp()
after(() => t.close())
const admin = await t.make.account({ role: 'admin' })

const publish = (text: string, asks_again = false) =>
  t.as(admin).put('/_internal/admin/page/terms', { text, asks_again })
const shown = async () =>
  (await t.anyone.get('/_internal/instance')).json().pages.find(({ kind }: { kind: string }) => kind === 'terms')
const fresh = (username: string) => ({ username, email: `${username}@example.org`, password: PASSWORD })
const signUp = (username: string, terms_version?: unknown) =>
  t.anyone.post(CREATE, { ...fresh(username), ...(terms_version === undefined ? {} : { terms_version }) })
const consents = async (token: string) => (await t.as({ token }).get(TERMS)).json()

test('without Terms, sign-up needs no consent, and nobody can agree', async () => {
  const answer = await signUp('early', 1)
  assert.equal(answer.statusCode, 201)
  const early = { token: answer.json().session }
  assert.deepEqual(await consents(early.token), { is_asked: false, consents: [] })
  assertError(await t.as(early).post(TERMS, { version: 1 }), 404, 'not_found')
  assert.equal(await shown(), undefined)
})

test('with Terms, sign-up needs the number of a version whose consent is sufficient, and stores it with the time', async () => {
  await publish('First')
  assert.deepEqual(await shown(), { kind: 'terms', version: 1, asked_version: null })
  const missing = await signUp('mira')
  assertError(missing, 400, 'validation_error', 'terms_version')
  assert.match(missing.json().description, /1 agrees to the newest version of the Terms/)
  assertError(await t.anyone.post(`${CREATE}/validate`, fresh('mira')), 400, 'validation_error', 'terms_version')
  await assertRefusedValues(
    (body) => t.anyone.post(CREATE, body),
    { ...fresh('mira'), terms_version: 1 },
    'terms_version',
    [0, 2, 1.5, '1st', 2 ** 31, [], {}, true],
  )
  assert.equal((await t.anyone.post(`${CREATE}/validate`, { ...fresh('mira'), terms_version: 1 })).statusCode, 204)
  const { session } = (await signUp('mira', 1)).json()
  const { is_asked, consents: given } = await consents(session)
  assert.deepEqual([is_asked, given.length, given[0].version], [false, 1, 1])
  assert.ok(Math.abs(Date.parse(given[0].agreed) - t.deps.now()) < 60_000)
  // A version that does not ask again: consent to the one before is sufficient.
  await publish('First, without typos')
  assert.equal((await signUp('nora', 1)).statusCode, 201)
  assert.equal((await signUp('oskar', 2)).statusCode, 201)
  await publish('Third', true)
  assert.deepEqual(await shown(), { kind: 'terms', version: 3, asked_version: 3 })
  const outdated = await signUp('petra', 2)
  assertError(outdated, 400, 'validation_error', 'terms_version')
  assert.match(outdated.json().description, /must be 3, the newest version, because the Terms have changed/)
})

test('a new version asks users with a session; they agree once, also in parallel; the API refuses nothing', async () => {
  const person = await t.make.account()
  assert.equal((await consents(person.token)).is_asked, true)
  assert.equal((await t.as(person).patch(`/v3/user/${person.id}`, { bio: 'I build' })).statusCode, 204)
  assertError(await t.as(person).post(TERMS, { version: 2 }), 400, 'validation_error', 'version')
  assertError(await t.as(person).post(TERMS, { version: 4 }), 400, 'validation_error', 'version')
  assertError(await t.as(person).post(TERMS, {}), 400, 'validation_error', 'version')
  assertError(await t.anyone.post(TERMS, { version: 3 }), 401, 'unauthorized')
  assertError(await t.as(await t.make.pat(person, 2)).post(TERMS, { version: 3 }), 403, 'unauthorized')
  const answers = await Promise.all(Array.from({ length: 4 }, () => t.as(person).post(TERMS, { version: 3 })))
  assert.deepEqual(statuses(answers), [204, 204, 204, 204])
  const { is_asked, consents: given } = await consents(person.token)
  assert.deepEqual([is_asked, given.map(({ version }: { version: number }) => version)], [false, [3]])
  const data = (await t.as(person).post('/_internal/gdpr/export')).json()
  assert.deepEqual(
    data.terms_consents.map(({ version }: { version: number }) => version),
    [3],
  )
})

test('only Terms with a text can ask; the same text can ask later; removed Terms ask nobody', async () => {
  const put = (kind: string, body: object) => t.as(admin).put(`/_internal/admin/page/${kind}`, body)
  assertError(await put('rules', { text: 'Be kind', asks_again: true }), 400, 'validation_error', 'asks_again')
  assertError(await put('terms', { text: ' ', asks_again: true }), 400, 'validation_error', 'asks_again')
  assertError(await put('terms', { text: 'x', asks_again: 'now' }), 400, 'validation_error', 'asks_again')
  const version = async () => (await shown()).version
  await publish('Fourth')
  await publish('Fourth')
  assert.equal(await version(), 4)
  await publish('Fourth', true)
  await publish('Fourth', true)
  await publish('Fourth')
  assert.deepEqual(await shown(), { kind: 'terms', version: 5, asked_version: 5 })
  const { versions } = (await t.as(admin).get('/_internal/admin/page/terms')).json()
  assert.deepEqual(
    versions.map((one: Record<string, unknown>) => [one['version'], one['asks_again'], one['agreed']]),
    [
      [5, true, 0],
      [4, false, 0],
      [3, true, 1],
      [2, false, 1],
      [1, false, 2],
    ],
  )
  const [entry] = (await t.as(admin).get('/_internal/admin/audit-log?action=page.published&limit=1')).json().entries
  assert.deepEqual(entry.details, { kind: 'terms', version: 5, length: 6, asks_again: true })
  await publish('')
  assert.equal((await consents(admin.token)).is_asked, false)
  assert.equal((await signUp('quinn')).statusCode, 201)
  // The removal and the new text ask nobody again.
  await publish('Back')
  assert.deepEqual(await shown(), { kind: 'terms', version: 7, asked_version: 5 })
})

test('the page of sign-up has a required check box, and keeps the other values when the Terms have changed', async () => {
  await t.as(admin).put('/_internal/admin/page/privacy', { text: 'We store little' })
  const person = visitor(t)
  const path = '/account/sign-up'
  const form = await person.get(path)
  assert.match(form.body, /<input type="checkbox" name="terms_version" value="7" id="terms_version" required>/)
  assert.match(form.body, /href="\/terms" target="_blank">Terms<[\s\S]*href="\/privacy" target="_blank">/)
  const values = { username: 'rosa', email: 'rosa@example.org', password: PASSWORD }
  const unchecked = await person.sendFrom(form, path, values)
  assert.equal(unchecked.statusCode, 400)
  assert.match(unchecked.body, /<a href="#terms_version">Agree to the Terms to sign up\./)
  await publish('Eighth', true)
  const changed = await person.sendFrom(unchecked, path, { ...values, email: 'rosa', terms_version: '7' })
  assert.equal(changed.statusCode, 400)
  assert.match(changed.body, /The Terms have changed\. Read them, then agree to the new version\./)
  assert.match(changed.body, /must be an email address/)
  assert.match(
    changed.body,
    /value="rosa"[\s\S]*name="terms_version" value="8" id="terms_version" required aria-invalid/,
  )
  const answer = await person.sendFrom(changed, path, { ...values, terms_version: '8' })
  assert.equal(answer.statusCode, 303, answer.body)
  const { consents: given } = await consents(person.cookies.get('__Host-depot-session') ?? '')
  assert.deepEqual(
    given.map(({ version }: { version: number }) => version),
    [8],
  )
})

test('an invitation needs consent too; the first admin does not', async () => {
  await t.as(admin).patch('/_internal/admin/settings', { registration: 'invitation' })
  const { code } = (await t.as(admin).post('/_internal/admin/invitations', {})).json()
  assertError(
    await t.anyone.post(CREATE, { ...fresh('sven'), invitation: code }),
    400,
    'validation_error',
    'terms_version',
  )
  const body = { ...fresh('sven'), invitation: code, terms_version: 8 }
  assert.equal((await t.anyone.post(CREATE, body)).statusCode, 201)
})

test('without the site, the number is optional', async () => {
  const other = await testApp({ env: { SITE: 'off' } })
  try {
    const operator = other.as(await other.make.account({ role: 'admin' }))
    await operator.put('/_internal/admin/page/terms', { text: 'Terms', asks_again: true })
    assert.equal((await other.anyone.post(CREATE, fresh('tove'))).statusCode, 201)
    const answer = await other.anyone.post(CREATE, { ...fresh('ulf'), terms_version: 1 })
    const { is_asked, consents: given } = (await other.as({ token: answer.json().session }).get(TERMS)).json()
    assert.deepEqual([is_asked, given.length], [false, 1])
    assert.doesNotMatch((await visitor(other).get('/account/sign-up')).body, /terms_version/)
  } finally {
    await other.close()
  }
})
