import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { assertRefused, mailConformance } from '#test/conformance/mail.ts'
import { createSmtpMail } from './smtp.ts'

const from = 'Depot <noreply@example.org>'
const message = { to: 'mira@example.org', subject: 'Hello', text: 'Hello' }
const now = () => 1_750_000_000_000

/**
 * Starts a mail server with the parts of RFC 5321 that need no encryption; `replies` overrides its replies to commands.
 */
async function startServer(replies: ReadonlyMap<string, string> = new Map()) {
  const messages: string[] = []
  const commands: string[] = []
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => socket.destroy())
    serve(socket, messages, commands, replies).catch(() => socket.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    messages,
    commands,
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

async function serve(socket: Socket, messages: string[], commands: string[], replies: ReadonlyMap<string, string>) {
  const answer = (line: string) => socket.write(`${line}\r\n`)
  let data: string[] | undefined
  if (replies.get('greeting') === 'none') return
  answer('220 test')
  for await (const line of createInterface({ input: socket, crlfDelay: Number.POSITIVE_INFINITY })) {
    if (data !== undefined) {
      if (line !== '.') {
        data.push(line.replace(/^\./, ''))
        continue
      }
      messages.push(`${data.join('\r\n')}\r\n`)
      data = undefined
      answer('250 taken')
      continue
    }
    commands.push(line)
    const word = line.split(/[ :]/)[0]?.toUpperCase() ?? ''
    const reply = replies.get(word) ?? { DATA: '354 continue', QUIT: '221 bye' }[word] ?? '250 ok'
    answer(reply)
    if (reply.startsWith('354')) data = []
    if (word === 'QUIT') socket.end()
  }
}

mailConformance('smtp', async () => {
  const server = await startServer()
  return {
    mail: createSmtpMail({ url: server.url, from, now }),
    received: async () => server.messages,
    close: server.close,
  }
})

test('connections are kept for the next message, and the envelope names sender and receiver', async () => {
  const server = await startServer()
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
    const server = await startServer(new Map(Object.entries(replies)))
    const mail = createSmtpMail({ url: server.url, from, now, stepTimeoutMs: 50 })
    await assertRefused(mail, message)
    assert.deepEqual(server.messages, [])
    await mail.close()
    await server.close()
  })
}

test('an unreachable server is a mail error, in the check and when sending', async () => {
  const server = await startServer()
  await server.close()
  const mail = createSmtpMail({ url: server.url, from, now })
  await assertRefused(mail, message)
  await assert.rejects(mail.check(), { kind: 'mail_error' })
  await mail.close()
})
