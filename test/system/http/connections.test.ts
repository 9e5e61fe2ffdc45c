// Limits for one client: request bodies that never arrive, and idle connections.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { BYPASS_KEY, type TestApp, testApp } from '#test/support/app/test-app.ts'
import { modJar, versionData } from '#test/support/http/forms.ts'

const CONNECTIONS = 8

let t: TestApp
let port: number
before(async () => {
  t = await testApp({
    env: { BODY_SECONDS: '1', BODY_BYTES_PER_SECOND: '10', CONNECTIONS_PER_ADDRESS: String(CONNECTIONS) },
  })
  await t.app.listen({ host: '127.0.0.1', port: 0 })
  port = (t.app.server.address() as AddressInfo).port
})
after(() => t.close())

type Client = { socket: Socket; answer: Promise<string> }

/** A connection, and all that comes over it until the server closes it. */
function open(): Client {
  const socket = connect(port, '127.0.0.1')
  let text = ''
  socket.setEncoding('latin1').on('data', (piece: string) => {
    text += piece
  })
  socket.on('error', () => {})
  return { socket, answer: once(socket, 'close').then(() => text) }
}

const head = (line: string, more: Record<string, string>): string =>
  `${line} HTTP/1.1\r\n${Object.entries({ Host: 'x', 'User-Agent': 'x', 'X-Ratelimit-Key': BYPASS_KEY, ...more })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n`

test('a JSON body that does not arrive whole in its time is ended with an error, also when it trickles', async () => {
  const line = 'POST /v3/version_files'
  const headers = { 'Content-Type': 'application/json', 'Content-Length': '100000' }
  const silent = open()
  silent.socket.write(`${head(line, headers)}{`)
  const trickling = open()
  trickling.socket.write(head(line, headers))
  const drip = setInterval(() => trickling.socket.write(' '.repeat(200)), 20)
  try {
    for (const { answer } of [silent, trickling]) {
      const text = await answer
      assert.match(text, /^HTTP\/1\.1 408 Request Timeout\r\n/)
      assert.match(text, /Connection: close/)
      assert.match(text, /"error":"invalid_input","description":"The body was not complete after 1 seconds"/)
    }
  } finally {
    clearInterval(drip)
  }
})

test('ends a stalled upload, and lets a steady upload take many times as long', async () => {
  const project = await t.make.project()
  const boundary = 'frontier'
  const data = JSON.stringify({ project_id: project.id, ...versionData() })
  const form = Buffer.concat([
    Buffer.from(
      `--${boundary}\r\nContent-Disposition: form-data; name="data"\r\n\r\n${data}\r\n--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.jar"\r\n\r\n`,
    ),
    modJar('slow but steady'),
    Buffer.from(`\r\n--${boundary}--\r\n`),
  ])
  const headers = {
    Authorization: project.owner.token,
    'Content-Type': `multipart/form-data; boundary=${boundary}`,
    'Content-Length': String(form.length),
  }
  const still = open()
  still.socket.write(head('POST /v3/version', headers))
  still.socket.write(form.subarray(0, 10))
  assert.match(await still.answer, /^HTTP\/1\.1 408 [\s\S]*slower than 10 bytes per second/)

  const steady = open()
  steady.socket.write(head('POST /v3/version', { ...headers, Connection: 'close' }))
  const pieces = 30
  const size = Math.ceil(form.length / pieces)
  for (let at = 0; at < form.length; at += size) {
    steady.socket.write(form.subarray(at, at + size))
    await sleep(100)
  }
  assert.match(await steady.answer, /^HTTP\/1\.1 201 Created/)
})

test('connections of one address are bounded, and a closed one makes room', async () => {
  const held = Array.from({ length: CONNECTIONS }, open)
  await Promise.all(held.map(({ socket }) => once(socket, 'connect')))
  // The server counts them in the order in which they came: an answer on the last says that all are counted.
  const last = held.at(-1)?.socket as Socket
  last.write(head('GET /health', {}))
  await once(last, 'data')
  const refused = await open().answer
  assert.match(refused, /^HTTP\/1\.1 429 Too Many Requests\r\n/)
  assert.match(refused, /Retry-After: 1\r\n/i)
  assert.match(refused, /"error":"ratelimit_error","description":"This address already has 8 open connections/)

  held[0]?.socket.end()
  await held[0]?.answer
  const again = open()
  again.socket.write(head('GET /health', { Connection: 'close' }))
  const [first] = await Promise.race([once(again.socket, 'data'), again.answer.then((text) => [text])])
  assert.match(String(first), /^HTTP\/1\.1 200 OK/)
  for (const { socket } of held) socket.destroy()
})
