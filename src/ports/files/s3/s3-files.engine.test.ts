import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer, text } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'
import { ApiError } from '#lib/errors.ts'
import { OperatorError } from '#lib/operator-error.ts'
import { filesConformance } from '#test/conformance/files.ts'
import { type Engine, startEngine } from '#test/support/engines/engine.ts'
import { startTcpProxy, type TcpProxy } from '#test/support/stand-ins/tcp-proxy.ts'
import type { Files } from '../files.ts'
import { guardStream } from './guarded-stream.ts'
import { openS3Files, type S3FilesOptions } from './s3-files.ts'
import type { S3Location } from './store-client.ts'

const started = await startEngine('s3')
const skip = typeof started === 'string' ? started : false
const engine = started as Engine
// The SDK looks for keys here first.
if (!skip) {
  process.env['AWS_ACCESS_KEY_ID'] = engine.settings['AWS_ACCESS_KEY_ID']
  process.env['AWS_SECRET_ACCESS_KEY'] = engine.settings['AWS_SECRET_ACCESS_KEY']
}

const OPTIONS = { contentType: 'application/java-archive' }
const isErrorKind = (problem: string) => (error: unknown) => error instanceof ApiError && error.kind === problem
type After = { after(fn: () => unknown): void }
let serial = 0

async function openStore(
  t: After,
  location: Partial<S3Location> = {},
  more: Partial<S3FilesOptions> = {},
): Promise<Files & { staging: string }> {
  const staging = await mkdtemp(join(tmpdir(), 'depot-s3-staging-'))
  t.after(() => rm(staging, { recursive: true, force: true }))
  serial += 1
  const files = await openS3Files({
    location: {
      bucket: engine.settings['S3_BUCKET'] ?? '',
      endpoint: engine.settings['S3_ENDPOINT'],
      region: 'us-east-1',
      pathStyle: true,
      prefix: `test-${serial}/`,
      ...location,
    },
    staging,
    links: false,
    ...more,
  })
  t.after(() => files.close())
  return { ...files, staging }
}

const stage = (files: Files, bytes: Uint8Array) => files.stage(Readable.from([Buffer.from(bytes)]), { maxBytes: 1e9 })

describe('S3', { skip }, () => {
  after(() => engine.remove())
  filesConformance('S3', openStore)

  test('prefixes keep the files of two services in one bucket apart', async (t) => {
    const [one, other] = [await openStore(t), await openStore(t)]
    await one.put('a/b.webp', Buffer.from('one'), OPTIONS)
    assert.equal(await other.stat('a/b.webp'), undefined)
    assert.deepEqual(await one.stat('a/b.webp'), { sizeBytes: 3 })
  })

  test('a list of more than one page is whole, and has nothing of another prefix', async (t) => {
    const [files, other] = [await openStore(t), await openStore(t)]
    // A page has 1,000.
    const keys = Array.from({ length: 1_010 }, (_, n) => `a/${n}`)
    await files.putAll(keys.map((key) => ({ key, bytes: Buffer.from('x'), contentType: 'text/plain' })))
    await other.put('b', Buffer.from('x'), OPTIONS)
    const listed: string[] = []
    for await (const { key } of files.list()) listed.push(key)
    assert.deepEqual(listed.sort(), keys.sort())
  })

  test('bytes that changed on their way are rejected, and the staged file stays', async (t) => {
    const files = await openStore(t)
    const staged = await stage(files, Buffer.from('abc'))
    const wrong = { ...staged, sha1: '0'.repeat(40) }
    await assert.rejects(files.publish(wrong, 'a/b.jar', OPTIONS), isErrorKind('file_hosting_error'))
    assert.equal(await files.stat('a/b.jar'), undefined)
    assert.equal((await readdir(files.staging)).length, 1)
    await files.publish(staged, 'a/b.jar', OPTIONS)
  })

  test('a link returns the file with the requested name and type, and fails if it is changed', async (t) => {
    const files = await openStore(t, {}, { links: true })
    await files.put('a/b.jar', Buffer.from('0123456789'), OPTIONS)
    const asked = { contentType: 'text/plain', contentDisposition: 'attachment; filename="x.txt"' }
    const link = (await files.link('a/b.jar', asked)) ?? ''
    const answer = await fetch(link, { headers: { range: 'bytes=2-3' } })
    assert.deepEqual([answer.status, await answer.text()], [206, '23'])
    assert.equal(answer.headers.get('content-disposition'), asked.contentDisposition)
    assert.equal(answer.headers.get('content-type'), 'text/plain')
    assert.equal((await fetch(link.replace('/b.jar', '/c.jar'))).status, 403)
    assert.equal(await files.link('a/b.jar', asked), link, 'one address for a while')
    assert.notEqual(await files.link('a/b.jar', { ...asked, contentType: 'text/html' }), link)
    const without = await openStore(t)
    assert.equal(await without.link('a/b.jar', asked), undefined)
  })

  test('reports calls with their result; client errors are not failures of the store', async (t) => {
    const calls: [string, boolean][] = []
    const onCall = (operation: string, _seconds: number, failed: boolean) => void calls.push([operation, failed])
    const files = await openStore(t, {}, { onCall })
    await files.stat('absent')
    await files.put('a', Buffer.from('x'), OPTIONS)
    assert.deepEqual(calls, [
      ['headObject', false],
      ['putObject', false],
    ])
  })

  describe('a start is rejected with the setting to look at when', () => {
    const refused = async (t: After, location: Partial<S3Location>, reason: RegExp) => {
      await assert.rejects(openStore(t, location), (error: unknown) => {
        assert.ok(error instanceof OperatorError, String(error))
        assert.match(error.message, reason)
        assert.doesNotMatch(error.message, /secret/)
        return true
      })
    }
    /** A store that answers one status to everything. */
    async function answering(t: After, status: number, body = ''): Promise<string> {
      const server = createServer((req, res) => {
        req.resume()
        res.writeHead(status, { 'content-type': 'application/xml' }).end(body)
      }).listen(0, '127.0.0.1')
      await new Promise((resolve) => server.once('listening', resolve))
      t.after(() => server.close())
      return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    }

    test('the bucket does not exist', (t) => refused(t, { bucket: 'no-such-bucket' }, /does not exist.*S3_BUCKET/))
    test('the host does not exist', (t) =>
      refused(t, { endpoint: 'http://no-such-host.invalid' }, /host does not exist.*S3_ENDPOINT/))
    test('the bucket is in another region', async (t) =>
      refused(t, { endpoint: await answering(t, 301) }, /another region.*S3_REGION/))
    test('it is not an S3 store', async (t) =>
      refused(t, { endpoint: await answering(t, 200, '<html>') }, /returns an object that does not exist/))
    test('a right is missing', async (t) =>
      refused(t, { endpoint: await answering(t, 403) }, /access is denied.*docs\/operators\/engines\/s3\.md/))
    test('the secret is wrong', async (t) => {
      const right = process.env['AWS_SECRET_ACCESS_KEY']
      process.env['AWS_SECRET_ACCESS_KEY'] = 'another'
      t.after(() => {
        process.env['AWS_SECRET_ACCESS_KEY'] = right
      })
      await refused(t, {}, /Check the keys|keys are invalid/)
    })
  })

  describe('errors', () => {
    let proxy: TcpProxy
    before(async () => {
      proxy = await startTcpProxy(engine.port)
    })
    after(() => proxy.close())

    const openByProxy = (t: After, more: Partial<S3FilesOptions> = {}) =>
      openStore(t, { endpoint: `http://127.0.0.1:${proxy.port}` }, more)

    async function untilBack(files: Files): Promise<void> {
      for (;;) {
        try {
          return await files.check()
        } catch (error) {
          assert.ok(isErrorKind('files_unavailable')(error), String(error))
          await new Promise((resolve) => setTimeout(resolve, 50))
        }
      }
    }

    /** Checks that every call fails with 503, and uploads before their body is read. */
    async function assertAway(files: Files): Promise<void> {
      const staged = await stage(files, Buffer.from('new'))
      const refusals = [
        () => files.open('a/kept.jar'),
        () => files.stat('a/kept.jar'),
        () => files.publish(staged, 'a/new.jar', OPTIONS),
        () => files.put('a/new.webp', Buffer.from('x'), OPTIONS),
        () => files.remove('a/kept.jar'),
        () => files.assertAvailable(),
        () => files.check(),
      ]
      for (const refusal of refusals) {
        await assert.rejects(refusal(), (error: unknown) => {
          assert.ok(error instanceof ApiError, String(error))
          assert.deepEqual([error.kind, error.status, error.headers?.['retry-after']], ['files_unavailable', 503, '5'])
          return true
        })
      }
      await files.discard(staged)
    }

    test('a disconnected, killed, stopped or paused store is unavailable, and is used again afterwards', async (t) => {
      const files = await openByProxy(t)
      await files.put('a/kept.jar', Buffer.from('kept'), OPTIONS)
      for (const [away, back] of [
        [() => proxy.cut(), () => proxy.mend()],
        [() => engine.signal('SIGKILL'), () => engine.start()],
        [() => engine.stop(), () => engine.start()],
        [() => engine.signal('SIGSTOP'), () => engine.signal('SIGCONT')],
        [() => proxy.hang(), () => proxy.mend()],
      ] as const) {
        await away()
        await assert.rejects(files.check(), isErrorKind('files_unavailable'))
        await assertAway(files)
        await back()
        await untilBack(files)
        const opened = await files.open('a/kept.jar')
        assert.equal(opened && (await text(opened.stream)), 'kept')
        assert.equal(await files.stat('a/new.jar'), undefined)
      }
    })

    test('an upload survives a broken connection by sending everything again', async (t) => {
      const outcomes: boolean[] = []
      const cut = Promise.withResolvers<void>()
      const onCall = (operation: string, _seconds: number, failed: boolean) => {
        if (operation !== 'putObject') return
        outcomes.push(failed)
        if (failed) cut.resolve()
      }
      const files = await openByProxy(t, { onCall })
      const bytes = Buffer.alloc(20_000_000, 7)
      const staged = await stage(files, bytes)
      proxy.hang()
      const publishing = files.publish(staged, 'a/large.jar', OPTIONS)
      // Nothing passes; then the line breaks, and is whole again for the second try.
      await proxy.cut()
      await cut.promise
      await proxy.mend()
      await publishing
      assert.deepEqual(outcomes.slice(-1), [false])
      assert.ok(outcomes.length > 1)
      const opened = await files.open('a/large.jar')
      assert.ok(opened && (await buffer(opened.stream)).equals(bytes))
      assert.deepEqual(await readdir(files.staging), [])
    })

    test('a download that the store breaks off fails, and does not end as if it were whole', async (t) => {
      const files = await openByProxy(t)
      await files.put('a/long.jar', Buffer.alloc(20_000_000, 7), OPTIONS)
      const opened = await files.open('a/long.jar')
      assert.ok(opened)
      await proxy.cut()
      await assert.rejects(buffer(opened.stream))
      await proxy.mend()
      await untilBack(files)
    })

    test('a slow store is used', async (t) => {
      const files = await openByProxy(t)
      proxy.delay(300)
      await files.put('a/slow.jar', Buffer.from('slow'), OPTIONS)
      const opened = await files.open('a/slow.jar')
      assert.equal(opened && (await text(opened.stream)), 'slow')
      await proxy.mend()
    })

    test('a store that is away at the start does not keep Depot from starting', async (t) => {
      await proxy.cut()
      const unreachable: Error[] = []
      const files = await openByProxy(t, { onUnreachable: (error) => unreachable.push(error) })
      assert.equal(unreachable.length, 1)
      await assert.rejects(files.assertAvailable(), isErrorKind('files_unavailable'))
      await proxy.mend()
      await untilBack(files)
      await files.put('a.jar', Buffer.from('x'), OPTIONS)
    })
  })
})

test('a guarded stream fails if a reader waits and no data arrives, but not without a reader', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const silent = new Readable({ read() {} })
  const wanted = guardStream(silent, 1000)
  const reading = buffer(wanted)
  silent.push('abc')
  await new Promise(setImmediate)
  t.mock.timers.tick(1000)
  await assert.rejects(reading, /sent nothing for 1000 ms/)
  assert.equal(silent.destroyed, true)

  const plenty = Readable.from(Array.from({ length: 50 }, () => Buffer.alloc(65_536)))
  const unread = guardStream(plenty, 1000)
  unread.read(0)
  await new Promise(setImmediate)
  t.mock.timers.tick(10_000)
  assert.equal(unread.destroyed, false)
  assert.equal((await buffer(unread)).length, 50 * 65_536)
})
