// Forms with a passkey. A browser story has the scripts: test/system/browser/stories/passkey.test.ts.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { MINUTE_MS } from '#lib/time.ts'
import { testApp } from '#test/support/app/test-app.ts'
import { makeMember, PASSWORD } from '#test/support/http/account-steps.ts'
import { addPasskey, passkeyAnswer, softAuthenticator } from '#test/support/http/authenticator.ts'
import { assertLeads, assertSays, visitor } from '#test/support/http/visitor.ts'

const SIGN_IN = '/account/sign-in'
const SECURITY = '/account/security'

const t = await testApp()
after(() => t.close())

test('the sign-in form accepts a passkey instead of the name and the password', async () => {
  const { authenticator } = await addPasskey(t, await makeMember(t))
  const person = visitor(t)
  const fields = { passkey: JSON.stringify(await passkeyAnswer(t, authenticator)), return: '/mods' }
  assertLeads(await person.send(SIGN_IN, SIGN_IN, fields), '/mods')
  const unknown = JSON.stringify(await passkeyAnswer(t, softAuthenticator()))
  assertSays(await visitor(t).send(SIGN_IN, SIGN_IN, { passkey: unknown }), 401, 'does not know the passkey')
  for (const passkey of ['{', '{}', '[1]'])
    assertSays(await visitor(t).send(SIGN_IN, SIGN_IN, { passkey }), 400, 'must be the response of an authenticator')
})

test('after the password, the page accepts a passkey or a backup code', async () => {
  const member = await makeMember(t)
  const { authenticator } = await addPasskey(t, member)
  const person = visitor(t)
  const asked = await person.send(SIGN_IN, SIGN_IN, { username: member.username, password: PASSWORD })
  assertSays(asked, 200, 'Use your passkey, or enter one of your backup codes')
  const wrong = await person.sendFrom(asked, `${SIGN_IN}/code`, { code: 'wrong' })
  assertSays(wrong, 401, 'Sign in with a passkey')
  const passkey = JSON.stringify(await passkeyAnswer(t, authenticator))
  assertLeads(await person.sendFrom(wrong, `${SIGN_IN}/code`, { passkey }), '/account')
})

test('a passkey confirms the owner, is renamed and deleted, and codes are renewed', async () => {
  const member = await makeMember(t)
  const { authenticator, id } = await addPasskey(t, member)
  t.advance(10 * MINUTE_MS + 1)
  const person = visitor(t, member.token)
  const passkey = JSON.stringify(await passkeyAnswer(t, authenticator))
  assertLeads(await person.send(SECURITY, SECURITY, { do: 'confirm', passkey }), SECURITY)
  const renewed = await person.send(SECURITY, SECURITY, { do: 'renew-codes' })
  assertSays(renewed, 200, 'Your previous backup codes no longer work')
  const rename = { do: `rename-passkey.${id}`, name: 'Old phone' }
  assertLeads(await person.send(SECURITY, SECURITY, rename), `${SECURITY}?done=passkey-renamed`)
  assertSays(await person.get(SECURITY), 200, 'Old phone')
  const started = await person.send(SECURITY, SECURITY, { do: 'start-passkey' })
  assertSays(started, 200, 'data-passkey="create"')
  const refused = await person.sendFrom(started, SECURITY, { do: 'add-passkey', name: 'Key', passkey: '{}' })
  assertSays(refused, 400, 'must be the response of an authenticator')
  const removed = await person.send(SECURITY, SECURITY, { do: `delete-passkey.${id}` })
  assertLeads(removed, `${SECURITY}?done=passkey-deleted`)
  assert.doesNotMatch((await person.get(SECURITY)).body, /Old phone/)
})
