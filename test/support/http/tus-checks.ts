// Checks of uploads over an unreliable connection, for every store.
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import type { TestApp } from '../app/test-app.ts'
import { modJar, versionData } from './forms.ts'
import { idOf, listening, metadata, type TusClient, type TusRequest, tusClient } from './tus-requests.ts'

const sha1 = (bytes: Buffer) => ({ 'upload-checksum': `sha1 ${createHash('sha1').update(bytes).digest('base64')}` })

/** Cuts a file at every byte, in its first part and in a later one, and sends the rest as clients do. */
export async function checkEveryCut(t: TestApp, { bytes: count }: { bytes: number }): Promise<void> {
  const client = tusClient(t, await listening(t), (await t.make.project()).owner)
  const bytes = randomBytes(count)
  for (let cut = 0; cut < count; cut += 1) {
    for (const isChecked of [false, true]) {
      const path = await client.create(count)
      const begin = Math.floor(cut / 2)
      if (begin > 0) assert.equal((await client.patch(path, 0, bytes.subarray(0, begin))).status, 204)
      const rest = bytes.subarray(begin)
      await client.patch(path, begin, rest, {
        cutAt: cut - begin,
        ...(isChecked ? { headers: sha1(rest) } : { chunked: cut % 2 === 0 }),
      })
      const offset = await finish(client, path, bytes)
      const possible = isChecked ? [begin] : [begin, cut]
      assert.ok(possible.includes(offset), `${offset} of ${possible}`)
      assert.deepEqual(await client.storedBytes(path), bytes)
      assert.equal((await client.send('DELETE', path)).status, 204)
    }
  }
}

/** Asks for the offset and continues, again while the cut request still writes. Returns the first offset. */
async function finish(client: TusClient, path: string, bytes: Buffer, of: TusRequest = {}): Promise<number> {
  let first: number | undefined
  for (let status = 0; status !== 204; ) {
    const offset = await client.storedOffset(path)
    first ??= offset
    status = (await client.patch(path, offset, bytes.subarray(offset), of)).status
    assert.ok([204, 409].includes(status), String(status))
  }
  return first ?? 0
}

/**
 * Sends parts of which some are wrong, or lose the upload to another request while they write, and publishes the file: only
 * acknowledged bytes count.
 */
export async function checkRivals(t: TestApp): Promise<void> {
  const project = await t.make.project()
  const client = tusClient(t, await listening(t), project.owner)
  const bytes = modJar('rivals', [{ name: 'noise.bin', data: randomBytes(30_000), stored: true }])
  const wrong = randomBytes(bytes.length)
  const path = await client.create(bytes.length, metadata('rivals.jar'))
  assert.equal((await client.patch(path, 0, bytes.subarray(0, 5000))).status, 204)
  // Longer than the rest: its end must not remain behind the bytes that follow.
  const checked = await client.patch(path, 5000, wrong.subarray(5000), { headers: sha1(bytes.subarray(5000)) })
  assert.equal(checked.status, 460, checked.body)
  assert.equal((await client.patch(path, 5000, bytes.subarray(5000, 8000))).status, 204)

  const length = bytes.length - 8000
  const slow = await client.slowPatch(path, { offset: 8000, begin: wrong.subarray(8000, 12_000), length })
  for (const method of ['PATCH', 'DELETE']) {
    const refused = method === 'PATCH' ? await client.patch(path, 8000, bytes) : await client.send(method, path)
    assert.equal(refused.status, 409)
    assert.equal(refused.headers['upload-offset'], '8000')
    assert.equal(refused.headers['retry-after'], '1')
  }
  assert.equal((await client.send('HEAD', path)).headers['upload-offset'], '8000')
  await slow.expire()
  assert.equal((await client.patch(path, 8000, bytes.subarray(8000, 9000))).status, 204)
  // The first request still writes, and loses.
  assert.equal(await slow.end(wrong.subarray(12_000)), 409)
  assert.equal((await client.patch(path, 9000, bytes.subarray(9000))).status, 204)
  assert.deepEqual(await client.storedBytes(path), bytes)

  const data = { ...versionData(), project_id: project.id, file_parts: [`upload:${idOf(path)}`] }
  const made = await t.as(project.owner).post('/v3/version', data)
  assert.equal(made.statusCode, 201, made.body)
  const [file] = made.json().files
  assert.equal(file.hashes.sha512, createHash('sha512').update(bytes).digest('hex'))
  assert.deepEqual((await t.anyone.get(new URL(file.url).pathname)).rawPayload, bytes)
}
