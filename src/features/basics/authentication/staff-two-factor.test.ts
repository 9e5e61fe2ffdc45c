// Staff without two-factor sign-in keep the powers of ordinary users if the instance requires it.
import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { COMMAND } from '#features/basics/audit/actor.ts'
import { updateSettings } from '#features/basics/settings/update-settings.ts'
import { resetTwoFactor } from '#features/people/accounts/administration/reset-two-factor.ts'
import { transaction } from '#platform/cache/transaction.ts'
import { ADMIN_KEY, testApp } from '#test/support/app/test-app.ts'
import type { Person } from '#test/support/factories/factories.ts'
import { assertError, enableTwoFactor, makeMember, PASSWORD, totpCode } from '#test/support/http/account-steps.ts'
import { assertSays, visitor } from '#test/support/http/visitor.ts'

const SETTINGS = '/_internal/admin/settings'
const QUEUE = '/_internal/moderation/projects'
const KEY = { headers: { 'x-admin-key': ADMIN_KEY } }
const REASON = /^Moderators and admins of this instance need two-factor sign-in\. .*\/account\/security/

const t = await testApp()
after(() => t.close())
const { db } = t.deps
const admin = await t.make.account({ role: 'admin' })
const moderator = await t.make.account({ role: 'moderator' })

const protect = async ({ id }: Person, isOn = true) => {
  const totp_secret = isOn ? 'JBSWY3DPEHPK3PXP' : null
  await transaction(t.deps, async (tx, changed) => {
    changed.add('viewer', id)
    await tx.updateTable('account').set({ totp_secret }).where('id', '=', id).execute()
  })
}
const require = (value: boolean | null) => updateSettings(t.deps, COMMAND, { require_staff_two_factor: value })
beforeEach(async () => {
  await require(null)
  await protect(admin, false)
  await protect(moderator, false)
})

test('an admin who requires it needs it; the command and the key can always require it', async () => {
  const refused = await t.as(admin).patch(SETTINGS, { require_staff_two_factor: true })
  assertError(refused, 400, 'validation_error')
  assert.equal(refused.json().details.field, 'require_staff_two_factor')
  assert.equal((await t.as(admin).get(SETTINGS)).json().require_staff_two_factor, false)
  await protect(admin)
  assert.equal((await t.as(admin).patch(SETTINGS, { require_staff_two_factor: true })).statusCode, 204)
  const entry = await db.selectFrom('audit_entry').select('details').orderBy('id', 'desc').executeTakeFirst()
  assert.deepEqual(entry?.details, { fields: ['require_staff_two_factor'], require_staff_two_factor: true })
  await protect(admin, false)
  assert.equal((await t.anyone.patch(SETTINGS, { require_staff_two_factor: false }, KEY)).statusCode, 204)
  assert.equal((await t.anyone.patch(SETTINGS, { require_staff_two_factor: true }, KEY)).statusCode, 204)
})

test('every kind of token loses the role and gets a 403 that says why, until two-factor sign-in is on', async () => {
  const pat = await t.make.pat(moderator)
  const adminPat = await t.make.pat(admin)
  const tokens = [moderator.token, pat.token, adminPat.token, admin.token]
  const statuses = async () => {
    const answers = await Promise.all(tokens.map((token) => t.as({ token }).get(QUEUE)))
    return answers.map(({ statusCode }) => statusCode)
  }
  assert.deepEqual(await statuses(), [200, 200, 200, 200])
  await require(true)
  assert.deepEqual(await statuses(), [403, 403, 403, 403])
  assert.deepEqual(await statuses(), [403, 403, 403, 403], 'also with a cached token')
  const refused = await t.as(moderator).get(QUEUE)
  assert.match(refused.json().description, REASON)
  assert.deepEqual(refused.json().details, { two_factor_required: true })
  assert.match((await t.as(admin).get(SETTINGS)).json().description, REASON)
  const { statusCode } = await t.as(moderator).get(SETTINGS)
  assert.equal(statusCode, 404, 'an operator route says nothing to others')
  await protect(moderator)
  assert.deepEqual(await statuses(), [200, 200, 403, 403])
  assert.equal((await t.anyone.get(SETTINGS, KEY)).statusCode, 200)
})

test('without the role, hidden projects stay hidden, and own projects stay editable', async () => {
  const hidden = await t.make.project({ status: 'rejected' })
  const own = await t.make.project({ owner: moderator })
  assert.equal((await t.as(moderator).get(`/v3/project/${hidden.id}`)).statusCode, 200)
  await require(true)
  assert.equal((await t.as(moderator).get(`/v3/project/${hidden.id}`)).statusCode, 404)
  assert.equal((await t.as(moderator).patch(`/v3/project/${own.id}`, { summary: 'Lights caves' })).statusCode, 204)
  assert.equal((await t.as(moderator).get('/v3/user')).json().role, 'moderator')
})

test('an account whose two-factor sign-in is removed loses the powers immediately', async () => {
  await protect(moderator)
  await require(true)
  assert.equal((await t.as(moderator).get(QUEUE)).statusCode, 200)
  await resetTwoFactor(t.deps, COMMAND, { name: moderator.id, reason: 'Lost the phone' })
  assert.equal((await t.as(moderator).get(QUEUE)).statusCode, 403)
})

test('pages say why, lead to the setup, and hide the links of the role', async () => {
  const person = visitor(t, moderator.token)
  assertSays(await person.get('/moderation'), 200, 'set up two-factor sign-in</a>')
  assertSays(await visitor(t, admin.token).get('/operator'), 200, 'set up two-factor sign-in</a>')
  assert.match((await person.get('/dashboard')).body, /href="\/moderation"/)
  await require(true)
  const refused = await person.get('/moderation')
  assertSays(refused, 403, 'Moderators and admins of this instance need two-factor sign-in')
  assert.match(refused.body, /<a class="button" href="\/account\/security">Set up two-factor sign-in/)
  assert.doesNotMatch((await person.get('/dashboard')).body, /href="\/moderation"/)
  assertSays(await person.get('/operator'), 404, '</html>')
  await protect(moderator)
  assert.doesNotMatch((await person.get('/moderation')).body, /set up two-factor/i)
})

test('an admin requires it on the page, and reads there what is missing', async () => {
  const operator = visitor(t, admin.token)
  const path = '/operator/sign-ups'
  const send = async () => {
    const { body } = await operator.get(path)
    const _csrf = /name="_csrf" value="([^"]+)"/.exec(body)?.[1] ?? ''
    return operator.post(path, { _csrf, do: 'staff', require_staff_two_factor: 'true' })
  }
  assertSays(await send(), 400, 'turn on two-factor sign-in for your own account first')
  await protect(admin)
  assert.equal((await send()).statusCode, 303)
  assertSays(await operator.get(path), 200, /name="require_staff_two_factor"[^>]* checked/)
})

test('the last admin with two-factor sign-in keeps it and the role while the instance requires it', async () => {
  const member = await makeMember(t)
  const { secret } = await enableTwoFactor(t, member)
  await db.updateTable('account').set({ role: 'admin' }).where('id', '=', member.id).execute()
  await require(true)
  const site = visitor(t, member.token)
  assertSays(
    await site.get('/account/security'),
    200,
    'If you turn it off, you have only the permissions of other users',
  )
  const turnOff = () => t.as(member).delete('/_internal/auth/2fa', { code: totpCode(t, secret), password: PASSWORD })
  const refused = await turnOff()
  assertError(refused, 400, 'invalid_input')
  assert.match(refused.json().description, /^No other admin uses two-factor sign-in/)
  assertError(await t.as(member).patch(`/v3/user/${member.id}`, { role: 'developer' }), 400, 'invalid_input')
  await protect(admin)
  t.advance(30_000)
  assert.equal((await turnOff()).statusCode, 204)
})

test('of two admins who turn it off at the same time, one keeps it', async () => {
  await db.updateTable('account').set({ role: 'developer' }).where('role', '=', 'admin').execute()
  const members = [await makeMember(t), await makeMember(t)]
  const secrets: string[] = []
  for (const member of members) secrets.push((await enableTwoFactor(t, member)).secret)
  const ids = members.map(({ id }) => id)
  await db.updateTable('account').set({ role: 'admin' }).where('id', 'in', ids).execute()
  await require(true)
  const answers = await Promise.all(
    members.map((member, index) =>
      t.as(member).delete('/_internal/auth/2fa', { code: totpCode(t, secrets[index] ?? ''), password: PASSWORD }),
    ),
  )
  assert.deepEqual(answers.map(({ statusCode }) => statusCode).sort(), [204, 400])
})
