import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { composeMessage } from './mail.ts'
import {
  backupCodeUsedMail,
  continueSignUpMail,
  emailChangedMail,
  hasAccountMail,
  type MailContent,
  notificationMail,
  passkeyAddedMail,
  passkeyRemovedMail,
  passwordChangedMail,
  providerLinkedMail,
  providerUnlinkedMail,
  resetPasswordMail,
  tokenCreatedMail,
  twoFactorEnabledMail,
  twoFactorRemovedMail,
  verifyEmailMail,
} from './messages.ts'

const context = { siteName: 'Depot', baseUrl: 'https://depot.example.org', username: 'mira' }
const flow = 'aZ9'.repeat(18)

const all: Record<string, MailContent> = {
  verifyEmail: verifyEmailMail({ ...context, flow }),
  continueSignUp: continueSignUpMail({ ...context, email: 'new@example.org', key: 'l1.key' }),
  hasAccount: hasAccountMail(context),
  resetPassword: resetPasswordMail({ ...context, flow }),
  emailChanged: emailChangedMail({ ...context, newEmail: 'new@example.org', flow }),
  passwordChanged: passwordChangedMail({ ...context, hasPasskeys: true }),
  passkeyAdded: passkeyAddedMail({ ...context, name: 'My phone' }),
  passkeyRemoved: passkeyRemovedMail({ ...context, name: 'My phone' }),
  providerLinked: providerLinkedMail({ ...context, name: 'GitHub' }),
  providerUnlinked: providerUnlinkedMail({ ...context, name: 'GitHub' }),
  backupCodeUsed: backupCodeUsedMail({ ...context, remaining: 5 }),
  twoFactorEnabled: twoFactorEnabledMail(context),
  twoFactorRemoved: twoFactorRemovedMail(context),
  tokenCreated: tokenCreatedMail({ ...context, tokenName: 'build server' }),
  notification: notificationMail({
    ...context,
    title: 'News',
    text: 'Something happened.',
    link: 'https://x.example/',
    unsubscribe: 'https://x.example/off',
  }),
}

test('every message greets its receiver, names the service and says the same in both parts', () => {
  for (const [name, { subject, text, html }] of Object.entries(all)) {
    assert.ok(text.startsWith('Hello mira,\n\n'), name)
    assert.ok(html.includes('<p>Hello mira,</p>'), name)
    assert.ok(subject.length > 0 && subject.length < 80, name)
    for (const line of text.split('\n\n').slice(1, -1))
      assert.ok(html.replaceAll('&quot;', '"').replaceAll('&amp;', '&').includes(line), `${name}: ${line}`)
  }
  assert.equal(new Set(Object.values(all).map(({ subject }) => subject)).size, Object.keys(all).length)
})

test('emails with a secret have the link alone on a line, with the secret in the key flow', () => {
  for (const [name, page] of [
    ['verifyEmail', 'verify-email'],
    ['resetPassword', 'reset-password'],
  ] as const) {
    const links = all[name]?.text.split('\n').filter((line) => line.startsWith('https://')) ?? []
    assert.deepEqual(links, [`https://depot.example.org/account/${page}?flow=${flow}`])
    assert.equal(new URL(links[0] ?? '').searchParams.get('flow'), flow)
  }
})

test('the link is unbroken in the source of the email, also with a non-ASCII host name', async () => {
  const content = verifyEmailMail({ ...context, baseUrl: 'https://dépôt.example.org/sub', flow })
  const source = await composeMessage('Depot <noreply@example.org>', { to: 'mira@example.org', ...content }, 0)
  const { hostname } = new URL('https://dépôt.example.org')
  const link = `https://${hostname}/sub/account/verify-email?flow=${flow}`
  assert.match(hostname, /^xn--/)
  assert.ok(source.toString().split('\r\n').includes(link))
})

test('user text is escaped in HTML and cannot break the subject', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 300 }), (typed) => {
      const evil = `<script>alert('x')</script>"&\r\nBcc: ${typed}`
      for (const { subject, html } of [
        tokenCreatedMail({ ...context, tokenName: evil }),
        notificationMail({
          ...context,
          title: evil,
          text: evil,
          link: `https://x.example/?a="><script>`,
          unsubscribe: `https://x.example/off`,
        }),
        emailChangedMail({ ...context, newEmail: evil, flow }),
      ]) {
        assert.doesNotMatch(subject, /[\p{Cc}\u2028\u2029]/u)
        assert.ok(subject.length <= 250)
        assert.doesNotMatch(html, /<script/)
      }
    }),
  )
})

test('line breaks of a notification stay line breaks', () => {
  const { html, text } = notificationMail({
    ...context,
    title: 'News',
    text: 'One\nTwo',
    unsubscribe: 'https://x.example/off',
  })
  assert.ok(html.includes('<p>One<br>Two</p>'))
  assert.ok(text.includes('One\nTwo'))
})
