// A project's gallery: adding, describing, ordering and removing images, and the permissions for them.
import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { sql } from 'kysely'
import sharp from 'sharp'
import { ALL_SCOPES, parseScopeNames } from '#features/basics/access/scopes.ts'
import { type Client, type TestApp, testApp } from '#test/support/app/test-app.ts'
import type { MadeProject, Person } from '#test/support/factories/factories.ts'
import { failingFiles } from '#test/support/stand-ins/failing-files.ts'
import { GALLERY_BYTES_MAX } from './requests.ts'

let t: TestApp
let stranger: Person
let isFull = false
before(async () => {
  const full = () => (isFull ? new Error('ENOSPC') : undefined)
  t = await testApp({ deps: ({ files }) => ({ files: failingFiles(files, { put: full }) }) })
  stranger = await t.make.account()
})
after(() => t.close())

type Item = {
  url: string
  raw_url: string
  width: number | null
  height: number | null
  sizes: { url: string; width: number; height: number }[]
  featured: boolean
  name: string | null
  title: string | null
  description: string | null
  ordering: number
  video: string | null
}

let shade = 0
/** Returns a different image each time, large enough that a scaled copy is smaller. */
async function picture(): Promise<Buffer> {
  shade += 1
  const background = { r: shade % 256, g: 90, b: (shade * 7) % 256 }
  return sharp({
    create: { width: 400, height: 150, channels: 3, background, noise: { type: 'gaussian', mean: 20, sigma: 5 } },
  })
    .png()
    .toBuffer()
}

const gallery = ({ slug }: MadeProject) => `/v3/project/${slug}/gallery`
type Query = Record<string, string | number | boolean>
const binary = { 'content-type': 'image/png' }
const add = (project: MadeProject, bytes: Buffer, query: Query = {}, client: Client = t.as(project.owner)) =>
  client.post(gallery(project), bytes, { query: { ext: 'png', ...query }, headers: binary })
const items = async (project: MadeProject): Promise<Item[]> =>
  (await t.as(project.owner).get(`/v3/project/${project.id}`)).json().gallery
const fetch = (url: string) => t.anyone.get(new URL(url).pathname)

/** Runs the jobs of the next ten minutes too. */
async function runDelayedJobs(): Promise<void> {
  await sql`update graphile_worker._private_jobs set run_at = now() where run_at > now()`.execute(t.deps.db)
  await t.runJobs()
}

async function storedPictures(): Promise<number> {
  const entries = await readdir(join(t.deps.config.dataDir, 'files'), { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).length
}

describe('adding', () => {
  test('an image appears immediately with its title and description, and its scaled and raw files can be downloaded', async () => {
    const project = await t.make.project()
    assert.deepEqual(await items(project), [])
    const updated = (await t.anyone.get(`/v3/project/${project.id}`)).json().updated
    t.advance(1000)
    const answer = await add(project, await picture(), {
      title: 'A field',
      description: 'At dusk',
      ordering: -3,
      featured: true,
    })
    assert.equal(answer.statusCode, 204, answer.body)
    const [item] = await items(project)
    assert.ok(item !== undefined)
    assert.match(item.url, /_350\.webp$/)
    assert.match(item.raw_url, /\.png$/)
    const { featured, name, title, description, ordering } = item
    assert.deepEqual(
      { featured, name, title, description, ordering },
      { featured: true, name: 'A field', title: 'A field', description: 'At dusk', ordering: -3 },
    )
    const small = await fetch(item.url)
    assert.deepEqual([small.statusCode, small.headers['content-type']], [200, 'image/webp'])
    assert.equal((await fetch(item.raw_url)).statusCode, 200)
    assert.ok((await t.anyone.get(`/v3/project/${project.id}`)).json().updated > updated)
  })

  test('has copies of 350, 700 and 1400 pixels up to its own width, which are deleted with it', async () => {
    const project = await t.make.project()
    const wide = await sharp({
      create: {
        width: 1500,
        height: 1000,
        channels: 3,
        background: '#222',
        noise: { type: 'gaussian', mean: 60, sigma: 20 },
      },
    })
      .jpeg()
      .toBuffer()
    await t.as(project.owner).post(gallery(project), wide, { query: { ext: 'jpg' }, headers: binary })
    await add(project, await picture(), { ordering: 1 })
    const [large, small] = await items(project)
    assert.ok(large !== undefined && small !== undefined)
    assert.deepEqual([large.width, large.height, small.width, small.height], [1500, 1000, 400, 150])
    assert.deepEqual(
      large.sizes.map(({ width, height }) => [width, height]),
      [
        [350, 233],
        [700, 467],
        [1400, 933],
      ],
    )
    assert.deepEqual(
      small.sizes.map(({ width, height }) => [width, height]),
      [[350, 131]],
    )
    assert.equal(large.sizes[0]?.url, large.url)
    for (const { url, width, height } of [...large.sizes, ...small.sizes]) {
      const answer = await fetch(url)
      assert.deepEqual([answer.statusCode, answer.headers['content-type']], [200, 'image/webp'])
      const found = await sharp(answer.rawPayload).metadata()
      assert.deepEqual([found.width, found.height], [width, height])
    }
    await t.as(project.owner).delete(gallery(project), undefined, { query: { url: large.url } })
    await t.as(project.owner).delete(`/v3/project/${project.id}`)
    await runDelayedJobs()
    for (const { url } of [...large.sizes, ...small.sizes]) assert.equal((await fetch(url)).statusCode, 404, url)
  })

  test('that is animated has no copies, and its URL is that of the original', async () => {
    const project = await t.make.project()
    const frames = Buffer.concat([0, 90].map((shade) => Buffer.alloc(400 * 400 * 3, shade)))
    const moving = await sharp(frames, { raw: { width: 400, height: 800, channels: 3, pageHeight: 400 } })
      .webp({ loop: 0 })
      .toBuffer()
    const answer = await t.as(project.owner).post(gallery(project), moving, { query: { ext: 'webp' }, headers: binary })
    assert.equal(answer.statusCode, 204, answer.body)
    const [item] = await items(project)
    assert.deepEqual([item?.url, item?.sizes, item?.width], [item?.raw_url, [], null])
  })

  test('without words is not featured, and `name` wins over `title`', async () => {
    const project = await t.make.project()
    await add(project, await picture())
    await add(project, await picture(), { name: 'This', title: 'That', ordering: 1 })
    const [first, second] = await items(project)
    assert.deepEqual([first?.featured, first?.name, first?.ordering], [false, null, 0])
    assert.equal(second?.name, 'This')
  })

  test('a featured one replaces another, also under concurrent requests', async () => {
    const project = await t.make.project()
    await add(project, await picture(), { featured: true })
    const answers = await Promise.all([
      add(project, await picture(), { featured: true }),
      add(project, await picture(), { featured: true }),
    ])
    assert.deepEqual(
      answers.map(({ statusCode }) => statusCode),
      [204, 204],
    )
    assert.equal((await items(project)).filter(({ featured }) => featured).length, 1)
  })

  test('the same image twice is rejected, also concurrently, and the first stays; another project can have it', async () => {
    const project = await t.make.project()
    const bytes = await picture()
    const answers = await Promise.all([add(project, bytes), add(project, bytes)])
    assert.deepEqual(answers.map(({ statusCode }) => statusCode).sort(), [204, 400])
    const again = await add(project, bytes)
    assert.deepEqual([again.statusCode, again.json().error], [400, 'invalid_input'])
    const [item] = await items(project)
    assert.equal((await fetch(item?.url ?? '')).statusCode, 200)
    assert.equal((await add(await t.make.project(), bytes)).statusCode, 204)
  })

  test('an image can be the preview of a video, and an empty text removes the link', async () => {
    const project = await t.make.project()
    const video = async () => (await items(project))[0]?.video
    await add(project, await picture(), { video: 'https://youtu.be/abcdefghijk?si=1' })
    assert.equal(await video(), 'https://www.youtube.com/watch?v=abcdefghijk')
    const patch = async (value: string) => {
      const query = { url: (await items(project))[0]?.url ?? '', video: value }
      return t.as(project.owner).patch(gallery(project), undefined, { query })
    }
    for (const wrong of [
      'https://example.org/v',
      'javascript:alert(1)',
      'https://www.youtube.com/playlist?list=abcdefghijk',
    ]) {
      const answer = await patch(wrong)
      assert.deepEqual([answer.statusCode, answer.json().details.field], [400, 'video'], answer.body)
    }
    assert.equal((await patch('https://vimeo.com/123456')).statusCode, 204)
    assert.equal(await video(), 'https://vimeo.com/123456')
    assert.equal((await patch('')).statusCode, 204)
    assert.equal(await video(), null)
  })

  test('a gallery holds 64', async () => {
    const project = await t.make.project()
    await t.deps.db
      .insertInto('gallery_item')
      .values(
        Array.from({ length: 63 }, (_, i) => ({
          id: `G${project.id.slice(1, 6)}${i}`,
          project_id: project.id,
          url: `u${i}`,
          raw_url: `r${i}`,
          content_sha1: `${i}`,
        })),
      )
      .execute()
    const stored = await storedPictures()
    const answers = await Promise.all([add(project, await picture()), add(project, await picture())])
    assert.deepEqual(answers.map(({ statusCode }) => statusCode).sort(), [204, 400])
    assert.equal((await items(project)).length, 64)
    assert.equal(await storedPictures(), stored + 2, 'the rejected image is not stored')
  })

  test('takes 5 MiB and not a byte more, naming the limit', async () => {
    const project = await t.make.project()
    const start = await picture()
    const padded = (bytes: number) => Buffer.concat([start, Buffer.alloc(bytes - start.length)])
    assert.equal((await add(project, padded(GALLERY_BYTES_MAX))).statusCode, 204)
    const answer = await add(project, padded(GALLERY_BYTES_MAX + 1))
    assert.deepEqual([answer.statusCode, answer.json().error], [400, 'invalid_input'])
    assert.match(answer.json().description, /5 MiB/)
  })

  const refused: [string, Query][] = [
    ['an unknown extension', { ext: 'svg' }],
    ['an extension that is not what the bytes are', { ext: 'jpg' }],
    ['an empty caption', { title: '' }],
    ['a caption of 256', { name: 'x'.repeat(256) }],
    ['an empty description', { description: '' }],
    ['a description of 2049', { description: 'x'.repeat(2049) }],
    ['an ordering beyond 32 bits', { ordering: 2 ** 31 }],
    ['an ordering that is not a number', { ordering: 'first' }],
    ['featured that is neither true nor false', { featured: 'maybe' }],
  ]
  for (const [name, query] of refused) {
    test(`${name} is rejected`, async () => {
      const project = await t.make.project()
      const answer = await add(project, await picture(), query)
      assert.deepEqual([answer.statusCode, answer.json().error], [400, 'invalid_input'])
      assert.equal(answer.json().details.field, Object.keys(query)[0])
      assert.deepEqual(await items(project), [])
    })
  }

  test('no extension, no image, a truncated image and text are rejected', async () => {
    const project = await t.make.project()
    const whole = await picture()
    const noExt = await t.as(project.owner).post(gallery(project), whole, { headers: binary })
    assert.deepEqual([noExt.statusCode, noExt.json().details.field], [400, 'ext'])
    for (const bytes of [Buffer.alloc(0), whole.subarray(0, whole.length / 2), Buffer.from('{"not":"a picture"}')]) {
      const answer = await add(project, bytes)
      assert.deepEqual([answer.statusCode, answer.json().error], [400, 'invalid_input'], answer.body)
    }
    assert.deepEqual(await items(project), [])
  })

  test('a full store returns 500 file_hosting_error and adds no image', async () => {
    const project = await t.make.project()
    isFull = true
    const answer = await add(project, await picture())
    isFull = false
    assert.deepEqual([answer.statusCode, answer.json().error], [500, 'file_hosting_error'])
    assert.deepEqual(await items(project), [])
  })
})

describe('editing and removing', () => {
  async function withPictures(): Promise<{ project: MadeProject; owner: Client; first: Item; second: Item }> {
    const project = await t.make.project()
    await add(project, await picture(), { name: 'First', featured: true, ordering: 1 })
    await add(project, await picture(), { name: 'Second', ordering: 2 })
    const [first, second] = await items(project)
    assert.ok(first !== undefined && second !== undefined)
    return { project, owner: t.as(project.owner), first, second }
  }

  test('changes what it names and keeps the rest; one stays featured; the order follows', async () => {
    const { project, owner, first, second } = await withPictures()
    const query = { url: second.url, title: 'Now first', featured: true, ordering: 0 }
    assert.equal((await owner.patch(gallery(project), undefined, { query })).statusCode, 204)
    const after = await items(project)
    assert.deepEqual(
      after.map(({ name, featured, ordering }) => [name, featured, ordering]),
      [
        ['Now first', true, 0],
        ['First', false, 1],
      ],
    )
    await owner.patch(gallery(project), undefined, {
      query: { url: second.url, featured: false, description: 'Words' },
    })
    const [edited] = await items(project)
    assert.deepEqual([edited?.featured, edited?.name, edited?.description], [false, 'Now first', 'Words'])
    const cleared = { query: { url: second.url, name: '', description: '' } }
    assert.equal((await owner.patch(gallery(project), undefined, cleared)).statusCode, 204)
    const [empty] = await items(project)
    assert.deepEqual([empty?.name, empty?.title, empty?.description], [null, null, null])
    assert.equal(
      (await owner.patch(gallery(project), undefined, { query: { url: first.url } })).statusCode,
      204,
      'nothing to change',
    )
  })

  test('a removed image is invisible immediately and its file is deleted later; the same image can be added again', async () => {
    const project = await t.make.project()
    const bytes = await picture()
    await add(project, bytes)
    const [item] = await items(project)
    assert.ok(item !== undefined)
    assert.equal(
      (await t.as(project.owner).delete(gallery(project), undefined, { query: { url: item.url } })).statusCode,
      204,
    )
    assert.equal((await add(project, bytes)).statusCode, 204)
    await t.runJobs()
    assert.equal((await fetch(item.url)).statusCode, 200, 'the image can be restored')
    await runDelayedJobs()
    assert.equal((await fetch(item.url)).statusCode, 404)
    assert.equal((await fetch(item.raw_url)).statusCode, 404)
    const [again] = await items(project)
    assert.equal((await fetch(again?.url ?? '')).statusCode, 200)
  })

  test('a removed image is restored by PATCH for ten minutes, with its place and its texts', async () => {
    const project = await t.make.project()
    const bytes = await picture()
    await add(project, bytes, { title: 'Dusk', description: 'A field', ordering: 7, featured: true })
    await add(project, await picture(), { ordering: 8 })
    const [item] = await items(project)
    assert.ok(item !== undefined)
    const client = t.as(project.owner)
    const query = { url: item.url }
    const remove = () => client.delete(gallery(project), undefined, { query })
    const restore = (more: Query = {}) => client.patch(gallery(project), undefined, { query: { ...query, ...more } })
    assert.equal((await remove()).statusCode, 204)
    assert.equal((await remove()).statusCode, 404)
    const stranger = t.as(await t.make.account())
    assert.equal((await stranger.patch(gallery(project), undefined, { query })).statusCode, 403)
    t.advance(9 * 60_000)
    assert.deepEqual(
      (await Promise.all([restore(), restore()])).map(({ statusCode }) => statusCode),
      [204, 204],
    )
    assert.deepEqual((await items(project))[0], item)
    await runDelayedJobs()
    assert.equal((await fetch(item.url)).statusCode, 200, 'the deletion was cancelled')

    await remove()
    const [other] = await items(project)
    await client.patch(gallery(project), undefined, { query: { url: other?.url ?? '', featured: true } })
    assert.equal((await restore({ title: 'New' })).statusCode, 204)
    const restored = (await items(project)).find(({ url }) => url === item.url)
    assert.deepEqual([restored?.featured, restored?.title], [false, 'New'])

    await remove()
    assert.equal((await add(project, bytes)).statusCode, 204)
    assert.match((await restore()).json().description, /already contains/)
    t.advance(10 * 60_000 + 1)
    assert.equal((await restore()).statusCode, 404)
  })

  test("an unknown address and another project's are 404; none at all is 400", async () => {
    const { project, owner, first } = await withPictures()
    const other = await withPictures()
    for (const url of ['https://example.org/x.png', other.first.url, first.raw_url]) {
      assert.equal((await owner.patch(gallery(project), undefined, { query: { url, name: 'X' } })).statusCode, 404)
      assert.equal((await owner.delete(gallery(project), undefined, { query: { url } })).statusCode, 404)
    }
    for (const answer of [await owner.patch(gallery(project)), await owner.delete(gallery(project))])
      assert.deepEqual([answer.statusCode, answer.json().details.field], [400, 'url'])
    assert.equal((await items(other.project)).length, 2)
  })

  test('one of two concurrent removals succeeds', async () => {
    const { project, owner, first } = await withPictures()
    const remove = () => owner.delete(gallery(project), undefined, { query: { url: first.url } })
    assert.deepEqual((await Promise.all([remove(), remove()])).map(({ statusCode }) => statusCode).sort(), [204, 404])
  })
})

test('icon and gallery want a token, PROJECT_WRITE and EDIT_DETAILS; hidden is absent', async () => {
  const bytes = await picture()
  const project = await t.make.project()
  const draft = await t.make.project({ status: 'draft' })
  const member = await t.make.account()
  await t.make.member({ teamId: project.teamId, accountId: member.id, permissions: 1023 & ~4 })
  const moderator = await t.make.account({ role: 'moderator' })
  const weak = t.as(await t.make.pat(project.owner, ALL_SCOPES - parseScopeNames('PROJECT_WRITE').bits))
  await add(project, await picture())
  const calls = (slug: string, url: string): ((client: Client) => Promise<{ statusCode: number; body: string }>)[] => [
    (client) => client.patch(`/v3/project/${slug}/icon`, bytes, { query: { ext: 'png' }, headers: binary }),
    (client) => client.delete(`/v3/project/${slug}/icon`),
    (client) => client.post(`/v3/project/${slug}/gallery`, bytes, { query: { ext: 'png' }, headers: binary }),
    (client) => client.patch(`/v3/project/${slug}/gallery`, undefined, { query: { url, name: 'X' } }),
    (client) => client.delete(`/v3/project/${slug}/gallery`, undefined, { query: { url } }),
  ]
  const [item] = await items(project)
  for (const call of calls(project.slug, item?.url ?? '')) {
    assert.equal((await call(t.anyone)).statusCode, 401)
    const scopeless = await call(weak)
    assert.equal(scopeless.statusCode, 403)
    assert.match(scopeless.body, /PROJECT_WRITE/)
    assert.equal((await call(t.as(stranger))).statusCode, 403)
    assert.match((await call(t.as(member))).body, /EDIT_DETAILS/)
    assert.equal((await call(t.as(moderator))).statusCode, 204)
  }
  for (const call of [...calls(draft.slug, 'x'), ...calls('no-such-project', 'x')])
    assert.equal((await call(t.as(stranger))).statusCode, 404)
})
