import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import sharp from 'sharp'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '#lib/time.ts'
import { testApp } from '#test/support/app/test-app.ts'
import { assertError } from '#test/support/http/account-steps.ts'
import { IMAGE_HOST, startImageSource } from '#test/support/stand-ins/image-source.ts'

const source = await startImageSource()
const t = await testApp({
  env: {
    OUTGOING_ALLOW: `${IMAGE_HOST},inner.example.org`,
    OUTGOING_DENY: 'inner.example.org',
    EXTERNAL_IMAGES_CACHE_MB: '1',
  },
  deps: source.deps,
})
after(async () => {
  await t.close()
  source.close()
})
const owner = await t.make.account()
const moderator = await t.make.account({ role: 'moderator' })
const png = await sharp({ create: { width: 40, height: 20, channels: 3, background: '#804020' } })
  .png()
  .toBuffer()
const SVG = `<svg xmlns="http://www.w3.org/2000/svg" width="90" height="20"><rect width="90" height="20" fill="#4c1"/></svg>`

let paths = 0
/** Returns a new path of the source, so that each test has its own image. */
function newPath(extension = 'png'): string {
  paths += 1
  return `/i/${paths}.${extension}`
}

/** Saves a description and returns the paths under which the page of the project shows images of other hosts. */
async function shownIn(description: string): Promise<{ paths: string[]; body: string; id: string }> {
  const project = await t.make.project({ owner })
  assert.equal((await t.as(owner).patch(`/v3/project/${project.id}`, { description })).statusCode, 204)
  const { body, statusCode } = await t.anyone.get(`/project/${project.slug}`)
  assert.equal(statusCode, 200, body)
  const paths = [...body.matchAll(/<img [^>]*src="https:\/\/depot\.test(\/external\/[^"]+)"/g)].map(
    ([, path]) => path ?? '',
  )
  return { paths, body, id: project.id }
}

const pathOf = async (path: string): Promise<string> => {
  const [shown] = (await shownIn(`![Image](${source.address}${path})`)).paths
  assert.ok(shown !== undefined)
  return shown
}
const ask = (path: string, headers: Record<string, string> = {}) => t.anyone.get(path, { headers })
/** Returns the image also if this machine needs longer than a viewer waits. */
async function get(path: string, headers: Record<string, string> = {}) {
  for (;;) {
    const answer = await ask(path, headers)
    if (answer.headers['cache-control'] !== PLACEHOLDER) return answer
  }
}
const PLACEHOLDER = 'public, max-age=5'
const files = async (): Promise<string[]> => {
  const keys: string[] = []
  for await (const { key } of t.deps.files.list()) if (key.startsWith('external/')) keys.push(key)
  return keys
}
const rowOf = (path: string) =>
  t.deps.db
    .selectFrom('external_image')
    .selectAll()
    .where('url', '=', source.address + path)
    .executeTakeFirst()
/** Waits until background work has changed the row. */
async function until(isDone: () => Promise<boolean>): Promise<void> {
  while (!(await isDone())) await new Promise((resolve) => setImmediate(resolve))
}
beforeEach(() => {
  source.requests.length = 0
})

test('an image of another host is served by Depot, and its source learns nothing about the viewer', async () => {
  const path = newPath()
  source.add(path, png, { etag: '"one"' })
  const shown = await pathOf(path)
  assert.equal(source.requests.length, 0, 'rendering fetches nothing')
  const headers = {
    'accept-language': 'de',
    cookie: 'a=b',
    referer: 'https://depot.test/mod/x',
    'user-agent': 'Browser',
  }
  const answer = await get(shown, headers)
  assert.equal(answer.statusCode, 200)
  assert.match(String(answer.headers['content-type']), /^image\/(png|webp)$/)
  assert.deepEqual(
    ['x-content-type-options', 'content-security-policy', 'cache-control'].map((name) => answer.headers[name]),
    ['nosniff', "default-src 'none'; style-src 'unsafe-inline'; sandbox", 'public, max-age=300'],
  )
  const { width, height } = await sharp(answer.rawPayload).metadata()
  assert.deepEqual([width, height], [40, 20])
  const sent = source.requests.at(0)
  assert.deepEqual(Object.keys(sent?.headers ?? {}).sort(), ['accept', 'connection', 'host', 'user-agent'])
  assert.equal(sent?.headers['user-agent'], 'Depot')
  const again = await get(shown, { 'if-none-match': String(answer.headers['etag']) })
  assert.equal(again.statusCode, 304)
  assert.equal(source.requests.length, 1)
})

test('only signed URLs are fetched', async () => {
  const path = newPath()
  source.add(path, png)
  const [, , signature, encoded] = (await pathOf(path)).split('/')
  const other = Buffer.from(`${source.address}/other`).toString('base64url')
  for (const wrong of [`${signature}/${other}`, `x/${encoded}`, `AAAAAAAAAAAAAAAAAAAAAA/${encoded}`, `${signature}/!`])
    assertError(await get(`/external/${wrong}`), 404, 'not_found')
  assert.deepEqual(source.requests, [])
})

test('texts link a failed image with its alternative text, keep links around images and stop at 100', async () => {
  const at = (name: string) => `${source.address}/${name}.png`
  const { body, paths } = await shownIn(
    `![A <b>](${at('a')}) [![badge](${at('b')})](https://ci.example.org) ![plain](http://${IMAGE_HOST}/c.png) <img src="${at('d')}" data-link="javascript:x">`,
  )
  assert.equal(paths.length, 3)
  assert.match(body, new RegExp(`<a href="${at('a')}" rel="nofollow ugc noopener"><img [^>]*alt="A &lt;b&gt;"`))
  assert.match(body, /<a href="https:\/\/ci\.example\.org" rel="nofollow ugc noopener"><img /)
  assert.match(body, /plain \(images\.example\.org\)/)
  assert.match(body, new RegExp(`<a href="${at('d')}" rel="nofollow ugc noopener"><img [^>]*alt="Image"`))
  assert.doesNotMatch(body, /data-link/)
  const many = Array.from({ length: 102 }, (_, index) => `![x](${at(`n${index}`)})`).join('\n')
  const all = await shownIn(many)
  assert.equal(all.paths.length, 100)
  assert.equal(all.body.match(/x \(images\.example\.org/g)?.length, 2)
})

test('viewers who need the same image at the same time share one fetch', async () => {
  const path = newPath()
  const { promise: bothWait, resolve } = Promise.withResolvers<void>()
  source.answers.set(path, (res) => void bothWait.then(() => res.end(png)))
  const shown = await pathOf(path)
  const answers = [get(shown), get(shown), get(shown)]
  await until(async () => source.requests.length > 0)
  resolve()
  assert.deepEqual(
    (await Promise.all(answers)).map(({ statusCode }) => statusCode),
    [200, 200, 200],
  )
  assert.equal(source.requests.length, 1)
  assert.equal((await rowOf(path))?.failures, 0)
})

test('animated images stay animated, and an SVG keeps its size without scripts', async () => {
  const frames = await sharp(Buffer.alloc(8 * 16 * 3, 200), {
    raw: { width: 8, height: 16, channels: 3, pageHeight: 8 },
  })
    .gif({ delay: [100, 100] })
    .toBuffer()
  const gif = newPath('gif')
  source.add(gif, frames)
  const moving = await get(await pathOf(gif))
  assert.equal(moving.headers['content-type'], 'image/gif')
  const svg = newPath('svg')
  source.add(svg, SVG.replace('<rect', '<script>alert(1)</script><rect onload="alert(1)"'), {
    'content-type': 'image/svg+xml',
  })
  const badge = await get(await pathOf(svg))
  assert.deepEqual([badge.statusCode, badge.headers['content-type']], [200, 'image/svg+xml'])
  assert.doesNotMatch(badge.body, /script|onload/)
  assert.match(badge.body, /width="90"/)
})

test('hostile sources get no image through: 404, no file, and a later attempt', async () => {
  const before = await files()
  const wide = await sharp({ create: { width: 4097, height: 2, channels: 3, background: '#000' } })
    .png()
    .toBuffer()
  const square = await sharp({ create: { width: 4096, height: 4096, channels: 3, background: '#000' } })
    .png()
    .toBuffer()
  const hostile: Record<string, (path: string) => void> = {
    'another type': (path) =>
      source.add(path, '<html><script>alert(1)</script></html>', { 'content-type': 'image/png' }),
    'a broken image': (path) => source.add(path, png.subarray(0, 40)),
    'too wide': (path) => source.add(path, wide),
    'an SVG that is too large': (path) => source.add(path, SVG.replace('width="90"', 'width="90000"')),
    'an SVG with an external entity': (path) =>
      source.add(
        path,
        `<!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/passwd">]>${SVG.replace('<rect', '<text>&x;</text><rect')}`,
      ),
    'an endless body': (path) => {
      source.answers.set(path, (res) => {
        const write = (): void => {
          while (!res.destroyed && res.write(Buffer.alloc(65_536, 'x'))) {}
        }
        res.on('drain', write)
        res.writeHead(200, { 'content-type': 'image/png' })
        write()
      })
    },
    'a redirect to a forbidden host': (path) =>
      source.answers.set(path, (res) => void res.writeHead(302, { location: 'https://inner.example.org/' }).end()),
    'a redirect to http': (path) =>
      source.answers.set(path, (res) => void res.writeHead(302, { location: 'http://other.example.org/' }).end()),
    'a redirect without end': (path) =>
      source.answers.set(path, (res) => void res.writeHead(302, { location: path }).end()),
    'a closed connection': (path) => source.answers.set(path, (res) => void res.destroy()),
    'a server error': (path) => source.answers.set(path, (res) => void res.writeHead(500).end(png)),
    'no image': () => undefined,
  }
  for (const [name, answer] of Object.entries(hostile)) {
    const path = newPath()
    answer(path)
    assert.equal((await get(await pathOf(path))).statusCode, 404, name)
    const row = await rowOf(path)
    assert.deepEqual([row?.storage_key, row?.failures], [null, 1], name)
  }
  assert.deepEqual(await files(), before)
  const large = newPath()
  source.add(large, square)
  assert.equal((await get(await pathOf(large))).statusCode, 200, 'the largest size')
})

test('a redirect within the rules is followed', async () => {
  const [path, target] = [newPath(), newPath()]
  source.answers.set(path, (res) => void res.writeHead(301, { location: target }).end())
  source.add(target, png)
  assert.equal((await get(await pathOf(path))).statusCode, 200)
})

test('a source that never responds delays no page, and its viewer gets a placeholder', async () => {
  const path = newPath()
  source.answers.set(path, () => undefined)
  const { paths } = await shownIn(
    Array.from({ length: 30 }, (_, i) => `![x](${source.address}${path}?${i})`).join('\n'),
  )
  assert.equal(paths.length, 30)
  assert.deepEqual(source.requests, [])
  const shown = await pathOf(path)
  const answer = await ask(shown)
  assert.deepEqual([answer.statusCode, answer.headers['content-type']], [200, 'image/svg+xml'])
  assert.equal(answer.headers['cache-control'], PLACEHOLDER)
  assert.equal(source.requests.length, 1)
})

test('a stale image is shown while Depot fetches it again, and a failed source keeps its copy', async () => {
  t.freeze()
  const path = newPath()
  source.add(path, png, { 'cache-control': 'max-age=60', etag: '"v1"' })
  const shown = await pathOf(path)
  const first = await get(shown)
  const row = await rowOf(path)
  assert.equal(row?.fresh_until.getTime(), t.deps.now() + 5 * MINUTE_MS, 'at least 5 minutes')
  t.advance(5 * MINUTE_MS + 1)
  source.answers.set(path, (res, req) => void res.writeHead(req.headers['if-none-match'] === '"v1"' ? 304 : 500).end())
  assert.equal((await get(shown)).headers['etag'], first.headers['etag'])
  await until(async () => (await rowOf(path))?.fetched?.getTime() === t.deps.now())
  assert.equal(source.requests.length, 2)
  t.advance(HOUR_MS + 1)
  source.answers.set(path, (res) => void res.writeHead(503).end())
  assert.equal((await get(shown)).statusCode, 200)
  await until(async () => (await rowOf(path))?.failures === 1)
  assert.equal((await get(shown)).statusCode, 200)
  assert.equal(source.requests.length, 3, 'not again before the time of the next attempt')
  t.advance(MINUTE_MS + 1)
  source.add(path, await sharp(png).negate().png().toBuffer(), { 'cache-control': 'max-age=99999999' })
  await get(shown)
  await until(async () => (await rowOf(path))?.failures === 0)
  const changed = await rowOf(path)
  assert.equal(changed?.fresh_until.getTime(), t.deps.now() + 7 * DAY_MS, 'at most 7 days')
  assert.notEqual((await get(shown)).headers['etag'], first.headers['etag'])
  await t.runJobs()
  assert.ok(!(await files()).includes(row?.storage_key ?? ''), 'the previous copy is removed')
  t.advance(7 * DAY_MS + 1)
  source.answers.delete(path)
  await get(shown)
  await until(async () => (await rowOf(path))?.storage_key === null)
  assert.equal((await get(shown)).statusCode, 404, 'the source no longer has the image')
  t.thaw()
})

test('a missing file is fetched again, and read-only mode fetches nothing', async () => {
  const path = newPath()
  source.add(path, png, { etag: '"x"' })
  const shown = await pathOf(path)
  assert.equal((await get(shown)).statusCode, 200)
  await t.deps.files.remove((await rowOf(path))?.storage_key ?? '')
  assert.match(String((await get(shown)).headers['content-type']), /png|webp/)
  const fresh = newPath()
  source.add(fresh, png)
  const unseen = await pathOf(fresh)
  const admin = await t.make.account({ role: 'admin' })
  const set = (read_only: boolean | null) => t.as(admin).patch('/_internal/admin/settings', { read_only })
  assert.equal((await set(true)).statusCode, 204)
  source.requests.length = 0
  assert.equal((await get(shown)).statusCode, 200)
  assert.equal((await ask(unseen)).headers['cache-control'], PLACEHOLDER)
  assert.deepEqual(source.requests, [])
  await set(null)
  assert.equal((await get(unseen)).statusCode, 200)
})

test('a moderator blocks an image: its copy is deleted, and nobody sees it until the block is lifted', async () => {
  const path = newPath()
  const url = source.address + path
  source.add(path, png)
  const shown = await pathOf(path)
  assert.equal((await get(shown)).statusCode, 200)
  const key = (await rowOf(path))?.storage_key ?? ''
  const list = '/_internal/moderation/blocked_images'
  assertError(await t.as(owner).post(list, { url }), 403, 'unauthorized')
  assertError(await t.as(moderator).post(list, { url: 'http://example.org/' }), 400, 'validation_error', 'url')
  assert.equal((await t.as(moderator).post(list, { url })).statusCode, 204)
  assert.equal((await t.as(moderator).post(list, { url })).statusCode, 204, 'again')
  assert.equal((await get(shown)).statusCode, 404)
  await t.runJobs()
  assert.ok(!(await files()).includes(key))
  const { total, images } = (await t.as(moderator).get(list)).json()
  assert.equal(total, 1)
  assert.deepEqual([images[0].url, images[0].blocked_by, images[0].takedown_id], [url, moderator.username, null])
  assert.equal((await t.as(moderator).delete(list, undefined, { query: { url } })).statusCode, 204)
  assertError(await t.as(moderator).delete(list, undefined, { query: { url } }), 404, 'not_found')
  assert.equal((await get(shown)).statusCode, 200)
  const actions = await t.deps.db
    .selectFrom('audit_entry')
    .select('action')
    .where('action', 'like', 'external_image.%')
    .orderBy('id')
    .execute()
  assert.deepEqual(
    actions.map(({ action }) => action),
    ['external_image.blocked', 'external_image.unblocked'],
  )
})

test('a takedown of a project blocks the images that only its texts contain, until it is undone', async () => {
  const [own, shared] = [newPath(), newPath()]
  for (const path of [own, shared]) source.add(path, png)
  const both = `![a](${source.address}${own}) <img src="${source.address}${shared}#gh-dark-mode-only">`
  const { paths, id } = await shownIn(both)
  await shownIn(`![b](${source.address}${shared})`)
  const [ownShown = '', sharedShown = ''] = paths
  const statuses = async () => [(await get(ownShown)).statusCode, (await get(sharedShown)).statusCode]
  assert.deepEqual(await statuses(), [200, 200])
  const takedown = { kind: 'project', id, reason: 'spam', visibility: 'rejected' }
  const done = await t.as(moderator).post('/_internal/moderation/takedown', takedown)
  assert.equal(done.statusCode, 200, done.body)
  await t.runJobs()
  assert.deepEqual(await statuses(), [404, 200])
  const undone = await t.as(moderator).post(`/_internal/moderation/takedown/${done.json().id}/undo`)
  assert.equal(undone.statusCode, 200, undone.body)
  assert.deepEqual(await statuses(), [200, 200])
})

test('an image that is blocked while Depot fetches it is not stored', async () => {
  const path = newPath()
  const { promise, resolve } = Promise.withResolvers<void>()
  source.answers.set(path, (res) => void promise.then(() => res.end(png)))
  const answer = get(await pathOf(path))
  await until(async () => source.requests.length > 0)
  const before = await files()
  await t.as(moderator).post('/_internal/moderation/blocked_images', { url: source.address + path })
  resolve()
  assert.equal((await answer).statusCode, 404)
  assert.deepEqual(await files(), before)
})

test('the job keeps the cache within its size: the least recently used images leave first', async () => {
  const noise = (seed: number) =>
    sharp(Buffer.from(Array.from({ length: 300 * 300 * 3 }, (_, i) => (i * i * (seed + 7)) % 251)), {
      raw: { width: 300, height: 300, channels: 3 },
    })
      .jpeg({ quality: 100 })
      .toBuffer()
  const paths = [newPath('jpg'), newPath('jpg')]
  for (const [index, path] of paths.entries()) {
    source.add(path, await noise(index))
    assert.equal((await get(await pathOf(path))).statusCode, 200)
    t.advance(MINUTE_MS)
  }
  // Only the sizes of these two: a fetch of an earlier test may still store its image.
  const [older = '', newer = ''] = await Promise.all(paths.map(async (path) => (await rowOf(path))?.storage_key ?? ''))
  await t.deps.db
    .updateTable('external_image')
    .set({ size_bytes: 600_000 })
    .where('storage_key', 'in', [older, newer])
    .execute()
  await t.runJob('external-images.sweep')
  await t.runJobs()
  assert.deepEqual([await rowOf(paths[0] ?? ''), (await rowOf(paths[1] ?? ''))?.size_bytes], [undefined, 600_000])
  const left = await files()
  assert.deepEqual([left.includes(older), left.includes(newer)], [false, true])
  t.advance(31 * DAY_MS)
  await t.runJob('external-images.sweep')
  assert.equal(await rowOf(paths[1] ?? ''), undefined, 'nobody has seen it for a month')
})
