import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { after, before, describe, test } from 'node:test'
import { ApiError, invalidInput } from '#lib/errors.ts'
import { openDiskFiles } from '#ports/files/disk/disk-files.ts'
import type { Files, StagedFile } from '#ports/files/files.ts'
import { type MultipartForm, type MultipartOptions, readMultipart } from './multipart.ts'

const BOUNDARY = 'a-boundary'
const LIMITS = { maxBytesOf: () => 1_000_000, maxDataBytes: 1000, maxParts: 3, maxBodyBytes: 10_000_000 }

type Part = { name?: string; filename?: string; type?: string; body: string | Buffer; disposition?: string }
type Outcome = { form?: MultipartForm<StagedFile>; error?: unknown }

function encode(parts: Part[], end = `--${BOUNDARY}--\r\n`): Buffer {
  const chunks: Buffer[] = []
  for (const { name, filename, type, body, disposition } of parts) {
    const named = name === undefined ? '' : `; name="${name}"`
    const asFile = filename === undefined ? '' : `; filename="${filename}"`
    const typed = type === undefined ? '' : `\r\nContent-Type: ${type}`
    const head = disposition ?? `form-data${named}${asFile}`
    chunks.push(Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: ${head}${typed}\r\n\r\n`), Buffer.from(body))
    chunks.push(Buffer.from('\r\n'))
  }
  return Buffer.concat([...chunks, Buffer.from(end)])
}

const data: Part = { name: 'data', body: '{"project_id":"AABBCCDD"}' }
const file = (name: string, filename = `${name}.jar`, body: string | Buffer = `bytes of ${name}`): Part => ({
  name,
  filename,
  type: 'application/java-archive',
  body,
})

describe('a multipart form', () => {
  let files: Files
  let folder: string
  let options: Partial<MultipartOptions<StagedFile>> = {}
  let outcome = Promise.withResolvers<Outcome>()

  const server = createServer((req, res) => {
    readMultipart(req, { files, ...LIMITS, ...options }).then(
      (form) => outcome.resolve({ form }),
      (error: unknown) => outcome.resolve({ error }),
    )
    void outcome.promise.then(() => res.end('answered'))
  })

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'depot-multipart-'))
    files = await openDiskFiles({ folder })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
  })
  after(async () => {
    server.closeAllConnections()
    server.close()
    await rm(folder, { recursive: true, force: true })
  })

  /** Sends the bytes as they are and gives what the reader made of them; the socket stays open. */
  async function start(
    body: Buffer,
    given: { options?: typeof options; contentType?: string; length?: number } = {},
  ): Promise<Socket> {
    options = given.options ?? {}
    outcome = Promise.withResolvers<Outcome>()
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    socket.on('error', () => undefined)
    const contentType = given.contentType ?? `multipart/form-data; boundary=${BOUNDARY}`
    socket.write(
      `POST / HTTP/1.1\r\nHost: x\r\nContent-Type: ${contentType}\r\nContent-Length: ${given.length ?? body.length}\r\n\r\n`,
    )
    socket.write(body)
    return socket
  }

  async function send(...args: Parameters<typeof start>): Promise<Outcome> {
    const socket = await start(...args)
    const result = await outcome.promise
    socket.destroy()
    return result
  }

  const leftovers = () => files.sweep({ olderThanMs: 0, nowMs: Number.MAX_SAFE_INTEGER })

  /** Checks that the form is refused with this error and message and that nothing staged is left. */
  async function refused(result: Promise<Outcome>, problem: string, message: RegExp, field?: string) {
    const { error } = await result
    assert.ok(error instanceof ApiError, `expected a refusal, got ${String(error)}`)
    assert.equal(error.kind, problem)
    assert.match(error.message, message)
    if (field !== undefined) assert.deepEqual(error.details, { field, message: error.message })
    assert.equal(await leftovers(), 0)
  }

  test('gives the data and the files in the order sent, whatever their bytes', async () => {
    const tricky = Buffer.from(`\r\n--${BOUNDARY.slice(0, -1)}x\r\n--\r\n\0`)
    const big = Buffer.alloc(700_000, 'depot')
    const { form } = await send(encode([data, file('b', 'B.jar', tricky), file('a', 'ä ü.jar', big)]))
    assert.ok(form)
    assert.deepEqual(form.data, { project_id: 'AABBCCDD' })
    assert.deepEqual(
      form.parts.map(({ name, filename, mimeType }) => [name, filename, mimeType]),
      [
        ['b', 'B.jar', 'application/java-archive'],
        ['a', 'ä ü.jar', 'application/java-archive'],
      ],
    )
    const bytes = await Promise.all(form.parts.map(({ staged }) => readFile(staged.path)))
    assert.deepEqual(bytes, [tricky, big])
    assert.equal(await leftovers(), 2)
  })

  test('takes data with a file name too, since some clients send it as a blob', async () => {
    const { form } = await send(encode([{ ...data, filename: 'blob', type: 'application/json' }]))
    assert.deepEqual(form, { data: { project_id: 'AABBCCDD' }, parts: [] })
  })

  test('takes an empty file', async () => {
    const { form } = await send(encode([data, file('f', 'f.jar', '')]))
    assert.equal(form?.parts[0]?.staged.sizeBytes, 0)
    assert.equal(await leftovers(), 1)
  })

  test('is read whole from a body that arrives byte by byte', async () => {
    const body = encode([data, file('f')])
    options = {}
    const req = Object.assign(Readable.from([...body].map((byte) => Buffer.of(byte))), {
      headers: { 'content-type': `multipart/form-data; boundary="${BOUNDARY}"` },
    })
    const form = await readMultipart(req, { files, ...LIMITS })
    assert.equal(form.parts[0]?.filename, 'f.jar')
    assert.equal(await leftovers(), 1)
  })

  test('passes a file name on as it was sent, never cut to its last component', async () => {
    const names = ['../x.jar', '..\\x.jar', 'C:\\x.jar', 'a/b.jar', 'CON.jar']
    for (const name of names) {
      const { form } = await send(encode([data, file('f', name)]))
      assert.equal(form?.parts[0]?.filename, name)
    }
    assert.equal(await leftovers(), names.length)
  })

  test('shows the data before the first file is stored, and a refusal stores none', async () => {
    const asked: string[] = []
    const maxBytesOf = ({ name }: { name: string }) => asked.push(name) * 1000
    const onData = async () => {
      await new Promise(setImmediate)
      throw invalidInput('unknown project', 'project_id')
    }
    await refused(
      send(encode([data, file('f')]), { options: { onData, maxBytesOf } }),
      'invalid_input',
      /unknown project/,
    )
    assert.deepEqual(asked, [])
  })

  test('asks for the limit of each part and names it when a file is larger', async () => {
    const maxBytesOf = ({ name }: { name: string }) => (name === 'icon' ? 1024 : 5000)
    const body = (size: number) =>
      encode([data, file('f', 'f.jar', 'x'.repeat(5000)), file('icon', 'i.png', 'x'.repeat(size))])
    assert.equal((await send(body(1024), { options: { maxBytesOf } })).form?.parts.length, 2)
    assert.equal(await leftovers(), 2)
    await refused(send(body(1025), { options: { maxBytesOf } }), 'invalid_input', /1 KiB/, 'icon')
  })

  test('lets the caller refuse a part by name and removes the parts before it', async () => {
    const maxBytesOf = ({ name }: { name: string }) => {
      if (name === 'stray') throw invalidInput('no such part', name)
      return 1000
    }
    await refused(
      send(encode([data, file('f'), file('stray')]), { options: { maxBytesOf } }),
      'invalid_input',
      /no such/,
    )
  })

  test('answers a file over its limit without reading the rest of the body', async () => {
    const half = encode([data, file('f', 'f.jar', Buffer.alloc(300_000))], '')
    const socket = await start(half, { options: { maxBytesOf: () => 1000 }, length: 9_000_000 })
    await refused(outcome.promise, 'invalid_input', /1000 bytes/, 'f')
    const [answer] = await once(socket, 'data')
    assert.match(String(answer), /answered/)
    socket.destroy()
  })

  test('without data, or with a file before it, is rejected', async () => {
    await refused(send(encode([file('f')])), 'invalid_input', /data is missing/, 'data')
    await refused(send(encode([])), 'invalid_input', /data|truncated/)
    await refused(send(encode([file('f'), data])), 'invalid_input', /data is missing/, 'data')
    const optional = { options: { dataRequired: false } }
    await refused(send(encode([file('f'), data]), optional), 'invalid_input', /before all files/, 'data')
  })

  test('can come without data where that is allowed', async () => {
    const { form } = await send(encode([file('file')]), { options: { dataRequired: false } })
    assert.deepEqual([form?.data, form?.parts.length], [undefined, 1])
    assert.equal(await leftovers(), 1)
  })

  test('with data twice, another plain field, a part twice or a nameless part is rejected', async () => {
    await refused(send(encode([data, data])), 'invalid_input', /more than one part data/, 'data')
    await refused(send(encode([data, file('f'), data])), 'invalid_input', /more than one part data/, 'data')
    await refused(send(encode([data, { name: 'note', body: 'x' }])), 'invalid_input', /no file name/, 'note')
    await refused(send(encode([data, file('f', '')])), 'invalid_input', /no file name/, 'f')
    await refused(send(encode([data, file('f'), file('f', 'g.jar')])), 'invalid_input', /more than one part f/, 'f')
    await refused(send(encode([data, { filename: 'a.jar', body: 'x' }])), 'invalid_input', /no name/)
    await refused(send(encode([data, file('n'.repeat(256))])), 'invalid_input', /at most 255/)
  })

  test('with more parts than allowed is rejected', async () => {
    const parts = ['a', 'b', 'c', 'd'].map((name) => file(name))
    await refused(send(encode([data, ...parts])), 'invalid_input', /more than 3/, 'd')
  })

  test('with data that is not JSON, not UTF-8, empty or too large is rejected', async () => {
    for (const body of ['{"a":', '', Buffer.from([0x22, 0xff, 0x22])]) {
      await refused(
        send(encode([{ name: 'data', body }, file('f')])),
        'json_error',
        /part data (is empty|is not valid)/,
      )
    }
    const long = JSON.stringify('x'.repeat(1000))
    await refused(send(encode([{ name: 'data', body: long }, file('f')])), 'invalid_input', /1000 bytes/, 'data')
  })

  test('with text in data that the database cannot hold is rejected with its field', async () => {
    for (const body of ['{"name":"a\\u0000b"}', '{"name":"\\ud800"}'])
      await refused(send(encode([{ name: 'data', body }, file('f')])), 'validation_error', /^Field name: .*NUL/)
  })

  test('cut off anywhere is rejected and leaves nothing', async () => {
    const whole = encode([data, file('a'), file('b')])
    for (let length = 0; length < whole.length - 4; length += 13)
      await refused(send(whole.subarray(0, length)), 'invalid_input', /truncated|missing/)
  })

  test('is abandoned if the sender disconnects, and leaves nothing', async () => {
    const whole = encode([data, file('a'), file('b', 'b.jar', Buffer.alloc(200_000))])
    for (const length of [10, 100, 300, 100_000]) {
      const arrived = once(server, 'request')
      const socket = await start(whole.subarray(0, length), { length: whole.length })
      await arrived
      socket.destroy()
      await refused(outcome.promise, 'invalid_input', /connection closed/)
    }
  })

  test('of another content type, without a boundary, or with another boundary is rejected', async () => {
    const body = encode([data, file('a')])
    for (const contentType of ['application/json', 'multipart/form-databus', 'multipart/related; boundary=a-boundary'])
      await refused(send(body, { contentType }), 'invalid_input', /must be multipart\/form-data/, 'Content-Type')
    await refused(send(body, { contentType: 'multipart/form-data' }), 'invalid_input', /boundary/)
    await refused(send(body, { contentType: 'multipart/form-data; boundary=other' }), 'invalid_input', /boundary/)
  })

  test('larger than the body limit is rejected, by its announced length or by what arrives', async () => {
    const body = encode([data, file('a', 'a.jar', Buffer.alloc(50_000))])
    const small = { options: { maxBodyBytes: 20_000 } }
    await refused(send(body, small), 'invalid_input', /20000 bytes/)
    const req = Object.assign(Readable.from([body]), {
      headers: { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` },
    })
    const reading = readMultipart(req, { files, ...LIMITS, ...small.options })
    await refused(
      reading.then(
        (form) => ({ form }),
        (error: unknown) => ({ error }),
      ),
      'invalid_input',
      /20000 bytes/,
    )
  })

  test('is a hosting error if the store fails, and leaves nothing', async () => {
    let stored = 0
    const failing = {
      ...files,
      stage: async (...args: Parameters<Files['stage']>) => {
        stored += 1
        if (stored === 2) throw new ApiError('file_hosting_error', 'full')
        return files.stage(...args)
      },
    }
    await refused(
      send(encode([data, file('a'), file('b')]), { options: { files: failing } }),
      'file_hosting_error',
      /full/,
    )
  })
})
