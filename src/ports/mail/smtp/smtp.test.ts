import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertRefused, mailConformance } from '#test/conformance/mail.ts'
import { startMailServer } from '#test/support/stand-ins/mail-server.ts'
import { createSmtpMail } from './smtp.ts'

const from = 'Depot <noreply@example.org>'
const message = { to: 'mira@example.org', subject: 'Hello', text: 'Hello' }
const now = () => 1_750_000_000_000

mailConformance('smtp', async () => {
  const server = await startMailServer()
  return {
    mail: createSmtpMail({ url: server.url, from, now }),
    received: async () => server.messages,
    close: server.close,
  }
})

test('connections are kept for the next message, and the envelope names sender and receiver', async () => {
  const server = await startMailServer()
  const mail = createSmtpMail({ url: server.url, from, now })
  await mail.send(message)
  await mail.send(message)
  const words = server.commands.map((command) => command.split(' ')[0])
  assert.equal(words.filter((word) => word === 'EHLO').length, 1)
  assert.ok(server.commands.includes('MAIL FROM:<noreply@example.org>'))
  assert.ok(server.commands.includes('RCPT TO:<mira@example.org>'))
  await mail.close()
  await server.close()
})

for (const [what, replies] of Object.entries({
  'a server that refuses the receiver': { RCPT: '550 no such user' },
  'a server that refuses the sender': { MAIL: '553 not from here' },
  'a server that refuses the content': { DATA: '554 not that' },
  'a server that does not greet': { greeting: 'none' },
})) {
  test(`${what} is a mail error`, async () => {
    const server = await startMailServer(new Map(Object.entries(replies)))
    const mail = createSmtpMail({ url: server.url, from, now, stepTimeoutMs: 50 })
    await assertRefused(mail, message)
    assert.deepEqual(server.messages, [])
    await mail.close()
    await server.close()
  })
}

test('an unreachable server is a mail error, in the check and when sending', async () => {
  const server = await startMailServer()
  await server.close()
  const mail = createSmtpMail({ url: server.url, from, now })
  await assertRefused(mail, message)
  await assert.rejects(mail.check(), { kind: 'mail_error' })
  await mail.close()
})
