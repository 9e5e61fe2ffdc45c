import assert from 'node:assert/strict'
import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import type { Person } from '#test/support/factories/factories.ts'
import { readRawBody } from './raw-body.ts'

let t: TestApp
let person: Person
before(async () => {
  t = await testApp()
  person = await t.make.account()
  await t.app.listen({ host: '127.0.0.1', port: 0 })
})
after(() => t.close())

type Sent = { status: number; body: string; bytesSent: number }

/** Sends pieces of 64 KiB, as many as asked for, until there is an answer. */
function upload(id: string, pieces: number): Promise<Sent> {
  const { port } = t.app.server.address() as AddressInfo
  const headers = { authorization: person.token, 'user-agent': 'depot-tests/1.0', 'content-type': 'image/png' }
  return new Promise((resolve, reject) => {
    let answered = false
    const req = request({ port, method: 'PATCH', path: `/v3/user/${id}/icon?ext=png`, headers }, async (res) => {
      answered = true
      let body = ''
      for await (const text of res.setEncoding('utf8')) body += text
      resolve({ status: res.statusCode ?? 0, body, bytesSent: sent })
      req.destroy()
    })
    let sent = 0
    const piece = Buffer.alloc(64 * 1024)
    const write = (): void => {
      if (answered) return
      if (sent >= pieces * piece.length) return void req.end()
      sent += piece.length
      req.write(piece, () => setImmediate(write))
    }
    req.on('error', (error) => {
      if (!answered) reject(error)
    })
    write()
  })
}

test('a body beyond its limit is answered before it has been sent to the end', async () => {
  const { status, body, bytesSent } = await upload(person.id, 16_384)
  assert.deepEqual([status, JSON.parse(body).error], [400, 'invalid_input'])
  assert.match(body, /262143 bytes/)
  assert.ok(bytesSent < 512 * 1024 * 1024)
})

test('does not wait for a body without permission to send it', async () => {
  const other = await t.make.account()
  const { status, bytesSent } = await upload(other.id, 16_384)
  assert.equal(status, 403)
  assert.ok(bytesSent < 512 * 1024 * 1024)
})

test('a body in pieces is read whole', async () => {
  const { status, body } = await upload(person.id, 3)
  assert.deepEqual([status, JSON.parse(body).details.field], [400, 'ext'], 'it is not an image, and the server noticed')
})

test('an interrupted body is not a server error', async () => {
  const { PassThrough } = await import('node:stream')
  const body = new PassThrough()
  const reading = readRawBody(body, { maxBytes: 100, field: 'icon' })
  body.write('half')
  setImmediate(() => body.destroy(Object.assign(new Error('aborted'), { code: 'ECONNRESET' })))
  await assert.rejects(reading, { name: 'ApiError', kind: 'invalid_input' })
})
