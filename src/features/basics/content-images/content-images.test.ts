import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import sharp from 'sharp'
import { HOUR_MS } from '#lib/time.ts'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import { type ConversationFactories, conversationFactories } from '#test/support/factories/conversation-factories.ts'
import type { Person } from '#test/support/factories/factories.ts'
import { scopeBits, type TeamFactories, teamFactories } from '#test/support/factories/team-factories.ts'
import { assertError } from '#test/support/http/account-steps.ts'

let t: TestApp
let make: TeamFactories
let talk: ConversationFactories
let moderator: Person
let png: Buffer
/** Runs once, just before a file is stored. */
let beforeStoring: (() => Promise<unknown>) | undefined
before(async () => {
  t = await testApp({
    deps: ({ files }) => ({
      files: {
        ...files,
        put: async (...args) => {
          await beforeStoring?.()
          await files.put(...args)
        },
      },
    }),
  })
  make = teamFactories(t.deps.db)
  talk = conversationFactories(t.deps.db)
  moderator = await t.make.account({ role: 'moderator' })
  png = await sharp({ create: { width: 40, height: 30, channels: 3, background: '#804020' } })
    .png()
    .toBuffer()
})
after(() => t.close())

const upload = (
  who: Person | { token: string },
  query: Record<string, string>,
  bytes: Buffer = png,
  type = 'image/png',
) => t.as(who).post('/v3/image', bytes, { query: { ext: 'png', ...query }, headers: { 'content-type': type } })
const imageCount = async (who: Person): Promise<number> => {
  const rows = await t.deps.db.selectFrom('image').select('id').where('owner_id', '=', who.id).execute()
  return rows.length
}
const storedFiles = async (): Promise<string[]> =>
  (await readdir(join(t.deps.config.dataDir, 'files', 'objects'), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)
const isThere = async (url: string): Promise<boolean> => (await t.anyone.get(new URL(url).pathname)).statusCode === 200

test('an image upload returns 201 with its URL, which sends the same file', async () => {
  const owner = await t.make.account()
  const answer = await upload(owner, { context: 'project' })
  assert.equal(answer.statusCode, 201, answer.body)
  const { id, url, created, ...rest } = answer.json()
  assert.deepEqual(rest, { size: png.length, owner_id: owner.id, context: 'project', project_id: null })
  assert.ok(Math.abs(Date.parse(created) - t.deps.now()) < 60_000)
  assert.match(url, new RegExp(`^https://depot\\.test/data/${id}/[0-9a-f]{40}\\.png$`))
  const served = await t.anyone.get(new URL(url).pathname)
  assert.deepEqual([served.statusCode, served.headers['content-type']], [200, 'image/png'])
  assert.ok(served.rawPayload.equals(png))
  const again = (await upload(owner, { context: 'project' })).json()
  assert.notEqual(again.url, url, 'uploading the same file twice creates two images')
})

test('detects the type of an image from its content, whatever its Content-Type', async () => {
  const owner = await t.make.account()
  const picture = sharp({ create: { width: 8, height: 8, channels: 3, background: '#333' } })
  const [jpeg, webp, gif] = await Promise.all([
    picture.clone().jpeg().toBuffer(),
    picture.clone().webp().toBuffer(),
    picture.clone().gif().toBuffer(),
  ])
  for (const [ext, bytes] of [
    ['jpg', jpeg],
    ['jpeg', jpeg],
    ['webp', webp],
    ['gif', gif],
  ] as const) {
    const answer = await upload(owner, { context: 'version', ext }, bytes, 'application/octet-stream')
    assert.equal(answer.statusCode, 201, answer.body)
    assert.ok(answer.json().url.endsWith(`.${ext}`))
  }
})

test('rejects and does not store files that are not images, have a wrong type, can run scripts or are too large', async () => {
  const owner = await t.make.account()
  const svg = Buffer.from(
    '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9"/></svg>',
  )
  const refused = async (field: string, query: Record<string, string>, bytes?: Buffer) =>
    assertError(await upload(owner, query, bytes), 400, 'invalid_input', field)
  await refused('ext', { context: 'project', ext: 'svg' }, svg)
  await refused('ext', { context: 'project', ext: 'png' }, svg)
  await refused('ext', { context: 'project', ext: 'bmp' })
  await refused('ext', { context: 'project', ext: 'jpg' })
  await refused('ext', { context: 'project', ext: 'PNG' })
  await refused('ext', { context: 'project' }, Buffer.from('hello'))
  await refused('body', { context: 'project' }, png.subarray(0, png.length - 30))
  await refused('body', { context: 'project' }, Buffer.alloc(0))
  await refused('context', { context: 'user' })
  await refused('context', {})
  assertError(
    await t
      .as(owner)
      .post('/v3/image', png, { query: { context: 'project' }, headers: { 'content-type': 'image/png' } }),
    400,
    'invalid_input',
    'ext',
  )
  const padded = (bytes: number) => Buffer.concat([png, Buffer.alloc(bytes - png.length)])
  const tooLarge = await upload(owner, { context: 'project' }, padded(1024 * 1024 + 1))
  assertError(tooLarge, 400, 'invalid_input', 'body')
  assert.match(tooLarge.json().description, /1 MiB/)
  assert.equal(await imageCount(owner), 0)
  assert.equal((await upload(owner, { context: 'project' }, padded(1024 * 1024))).statusCode, 201)
})

test('an image needs the scope of its context', async () => {
  const owner = await t.make.account()
  assertError(await t.anyone.post('/v3/image', png, { query: { ext: 'png', context: 'project' } }), 401, 'unauthorized')
  const scopes = {
    project: 'PROJECT_WRITE',
    version: 'VERSION_WRITE',
    report: 'REPORT_WRITE',
    thread_message: 'THREAD_WRITE',
  }
  for (const [context, scope] of Object.entries(scopes)) {
    const refused = await upload(await t.make.pat(owner, scopeBits('ALL_BUT', scope)), { context })
    assertError(refused, 403, 'unauthorized')
    assert.match(refused.json().description, new RegExp(scope))
    assert.equal((await upload(await t.make.pat(owner, scopeBits('ONLY', scope)), { context })).statusCode, 201)
  }
})

test('only members can upload an image for a project or version; other users cannot see that it exists', async () => {
  const [owner, stranger, invitee] = [await t.make.account(), await t.make.account(), await t.make.account()]
  const hidden = await make.project(owner, { status: 'private' })
  const open = await make.project(owner)
  await make.member(open.teamId, invitee, { accepted: false })
  const [version, inHidden] = [await make.version(open.id, owner), await make.version(hidden.id, owner)]
  assertError(await upload(stranger, { context: 'project', project_id: hidden.id }), 404, 'not_found')
  assertError(await upload(stranger, { context: 'version', version_id: inHidden }), 404, 'not_found')
  assertError(await upload(owner, { context: 'project', project_id: 'nobody-knows' }), 404, 'not_found')
  assertError(await upload(owner, { context: 'version', version_id: 'unknown0' }), 404, 'not_found')
  assertError(
    await upload(owner, { context: 'version', version_id: 'not-base62' }),
    400,
    'decoding_error',
    'version_id',
  )
  for (const other of [stranger, invitee]) {
    assertError(await upload(other, { context: 'project', project_id: open.id }), 403, 'unauthorized')
    assertError(await upload(other, { context: 'version', version_id: version }), 403, 'unauthorized')
  }
  assertError(await upload(owner, { context: 'project', version_id: version }), 400, 'invalid_input', 'version_id')
  assert.equal(await imageCount(stranger), 0)
  for (const person of [owner, moderator]) {
    const answer = await upload(person, { context: 'project', project_id: open.slug })
    assert.deepEqual([answer.statusCode, answer.json().project_id], [201, open.id])
  }
  assert.equal((await upload(owner, { context: 'version', version_id: inHidden })).json().version_id, inHidden)
})

test('only users who can write to a report or thread can upload an image for it', async () => {
  const [reporter, stranger] = [await t.make.account(), await t.make.account()]
  const { id, threadId } = await talk.report(reporter)
  const [own, foreign] = [await talk.message(threadId, reporter), await talk.message(threadId, moderator)]
  const hidden = await talk.message(threadId, moderator, { private: true })
  assertError(await upload(stranger, { context: 'report', report_id: id }), 404, 'not_found')
  assertError(await upload(stranger, { context: 'thread_message', thread_message_id: own }), 404, 'not_found')
  assertError(await upload(reporter, { context: 'thread_message', thread_message_id: hidden }), 404, 'not_found')
  assertError(await upload(reporter, { context: 'thread_message', thread_message_id: foreign }), 403, 'unauthorized')
  assert.equal((await upload(reporter, { context: 'report', report_id: id })).json().report_id, id)
  const image = (await upload(reporter, { context: 'thread_message', thread_message_id: own })).json()
  assert.equal(image.thread_message_id, own)
  const [message] = (await t.as(reporter).get(`/v3/thread/${threadId}`)).json().messages
  assert.deepEqual(message.body.associated_images, [image.id])
  await t.as(reporter).delete(`/v3/message/${own}`)
  assertError(await upload(reporter, { context: 'thread_message', thread_message_id: own }), 400, 'invalid_input')
  await t.as(moderator).patch(`/v3/report/${id}`, { closed: true })
  assertError(await upload(reporter, { context: 'report', report_id: id }), 400, 'invalid_input')
  assert.equal((await upload(moderator, { context: 'report', report_id: id })).statusCode, 201)
})

test('an account has at most 64 unused images, also under concurrent uploads', async () => {
  const owner = await t.make.account()
  await t.deps.pool.query(
    `insert into image (id, owner_id, context, url, storage_key, size_bytes)
     select 'wait' || n, $1, 'project', 'https://depot.test/x', 'pictures/x' || n, 1 from generate_series(1, 63) n`,
    [owner.id],
  )
  const answers = await Promise.all([1, 2, 3].map(() => upload(owner, { context: 'project' })))
  assert.deepEqual(answers.map(({ statusCode }) => statusCode).sort(), [201, 400, 400])
  assertError(await upload(owner, { context: 'report' }), 400, 'LimitReached')
  const project = await make.project(owner)
  await t.deps.db.updateTable('image').set({ project_id: project.id }).where('id', '=', 'wait1').execute()
  assert.equal((await upload(owner, { context: 'report' })).statusCode, 201)
})

test('leaves no file if the account is deleted while the image is stored', async () => {
  const owner = await t.make.account()
  const project = await make.project(owner)
  for (const place of [{}, { project_id: project.id }]) {
    const who = await t.make.account()
    await make.member(project.teamId, who)
    beforeStoring = async () => {
      beforeStoring = undefined
      assert.equal((await t.as(who).delete(`/v3/user/${who.id}`)).statusCode, 204)
      await t.runJobs()
    }
    await t.runJobs()
    const before = await storedFiles()
    assertError(await upload(who, { context: 'project', ...place }), 401, 'unauthorized')
    assert.deepEqual(await storedFiles(), before)
  }
})

test('removes images that are unused for a day with their files, but not used images', async () => {
  const owner = await t.make.account()
  const project = await make.project(owner)
  const waiting = (await upload(owner, { context: 'project' })).json()
  const used = (await upload(owner, { context: 'project', project_id: project.id })).json()
  const sweep = async () => {
    await t.deps.pool.query(`select graphile_worker.add_job('images.sweep', '{}'::json)`)
    await t.runJobs()
  }
  t.advance(23 * HOUR_MS)
  await sweep()
  assert.deepEqual([await isThere(waiting.url), await isThere(used.url)], [true, true])
  t.advance(2 * HOUR_MS)
  await sweep()
  assert.deepEqual([await isThere(waiting.url), await isThere(used.url)], [false, true])
  assert.equal(await imageCount(owner), 1)
})
