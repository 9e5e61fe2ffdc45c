import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { describe, test } from 'node:test'
import { ApiError } from '#lib/errors.ts'
import { filesConformance } from '#test/conformance/files.ts'
import { failingFiles } from '#test/support/stand-ins/failing-files.ts'
import { openDiskFiles } from './disk-files.ts'
import { syncFileSystem } from './sync-file-system.ts'

async function temporaryFolder(t: { after(fn: () => unknown): void }): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'depot-files-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  return folder
}

filesConformance('a folder', async (t) => openDiskFiles({ folder: await temporaryFolder(t) }))
filesConformance('a store with no errors set', async (t) =>
  failingFiles(await openDiskFiles({ folder: await temporaryFolder(t) }), {}),
)

const isHostingError = (error: unknown) => error instanceof ApiError && error.kind === 'file_hosting_error'

// Writes until the process reaches its file size limit: the kernel fails in the middle of a file, like a full disk.
const STAGE_PAST_THE_END = `
  import { readdir } from 'node:fs/promises'
  import { Readable } from 'node:stream'
  import { openDiskFiles } from ${JSON.stringify(new URL('./disk-files.ts', import.meta.url).href)}
  const folder = process.env.FOLDER
  const files = await openDiskFiles({ folder })
  const source = () => Readable.from(Array.from({ length: 64 }, () => Buffer.alloc(100_000)))
  const staged = await files.stage(source(), { maxBytes: 1e9 }).catch((error) => error)
  const put = await files.put('a/b.webp', Buffer.alloc(6_400_000), { contentType: 'image/webp' }).catch((error) => error)
  const problems = [staged, put].map((error) => [error.kind, error.cause?.code])
  process.stdout.write(JSON.stringify({ problems, left: await readdir(folder, { recursive: true }) }))
`

describe('the folder adapter', () => {
  test('a disk that rejects in the middle of a file is a hosting error, and nothing is left', async (t) => {
    const folder = await temporaryFolder(t)
    const script = `trap '' XFSZ; ulimit -f 4000; exec "$0" --input-type=module -e "$1"`
    const child = spawn('sh', ['-c', script, process.execPath, STAGE_PAST_THE_END], {
      env: { ...process.env, FOLDER: folder },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    assert.deepEqual(JSON.parse(await text(child.stdout)), {
      problems: [
        ['file_hosting_error', 'EFBIG'],
        ['file_hosting_error', 'EFBIG'],
      ],
      left: ['objects', 'staging'],
    })
  })

  test('a missing staging folder is a hosting error for staging, storing and the check', async (t) => {
    const folder = await temporaryFolder(t)
    const files = await openDiskFiles({ folder })
    await rename(join(folder, 'staging'), join(folder, 'elsewhere'))
    await assert.rejects(files.stage(Readable.from([Buffer.from('x')]), { maxBytes: 10 }), isHostingError)
    await assert.rejects(files.put('a.webp', Buffer.from('x'), { contentType: 'image/webp' }), isHostingError)
    await assert.rejects(files.check(), isHostingError)
  })

  test('a publish that cannot reach its folder fails as a hosting error and keeps the staged file', async (t) => {
    const folder = await temporaryFolder(t)
    const files = await openDiskFiles({ folder })
    await writeFile(join(folder, 'objects', 'blocked'), 'a file where a folder should be')
    const staged = await files.stage(Readable.from([Buffer.from('x')]), { maxBytes: 10 })
    await assert.rejects(files.publish(staged, 'blocked/a.jar', { contentType: 'x' }), isHostingError)
    assert.equal((await readdir(join(folder, 'staging'))).length, 1)
    await files.discard(staged)
  })

  test('the check fails when less room is left than asked for', async (t) => {
    const files = await openDiskFiles({ folder: await temporaryFolder(t), minFreeBytes: Number.MAX_SAFE_INTEGER })
    await assert.rejects(files.check(), isHostingError)
  })

  test('removing the last file of a folder removes the folder, and the store stays', async (t) => {
    const folder = await temporaryFolder(t)
    const files = await openDiskFiles({ folder })
    await files.put('p/v/one.jar', Buffer.from('1'), { contentType: 'x' })
    await files.remove('p/v/one.jar')
    assert.deepEqual((await readdir(folder, { recursive: true })).sort(), ['objects', 'staging'])
  })

  test('a folder that cannot be made is a hosting error at opening', async (t) => {
    const folder = await temporaryFolder(t)
    await writeFile(join(folder, 'file'), '')
    await assert.rejects(openDiskFiles({ folder: join(folder, 'file', 'store') }), isHostingError)
  })
})

describe('forcing files to disk', () => {
  test('works by the program of the system and without one; a folder that is not there is an error', async (t) => {
    const folder = await temporaryFolder(t)
    const files = await openDiskFiles({ folder })
    await files.putAll([{ key: 'a/b/c.jar', bytes: Buffer.from('c'), contentType: 'x' }])
    await syncFileSystem(folder)
    await syncFileSystem(folder, 'no-such-program')
    for (const program of ['sync', 'no-such-program'])
      await assert.rejects(syncFileSystem(join(folder, 'none'), program), { code: 'ENOENT' })
  })
})

describe('the error-injecting store', () => {
  test('fails the selected operations like a real adapter, for the selected time', async (t) => {
    let full = true
    const files = failingFiles(await openDiskFiles({ folder: await temporaryFolder(t) }), {
      put: () => (full ? new Error('no space left') : undefined),
      remove: new Error('not permitted'),
    })
    const put = () => files.put('a.webp', Buffer.from('x'), { contentType: 'image/webp' })
    await assert.rejects(put(), (error: ApiError) => isHostingError(error) && /no space/.test(String(error.cause)))
    full = false
    await put()
    await assert.rejects(files.remove('a.webp'), isHostingError)
    assert.deepEqual(await files.stat('a.webp'), { sizeBytes: 1 })
  })
})
