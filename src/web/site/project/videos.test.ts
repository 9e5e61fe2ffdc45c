// Videos in descriptions: the card, and the players that a page can load.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import sharp from 'sharp'
import { testApp } from '#test/support/app/test-app.ts'
import { assertValidHtml } from '#test/support/http/html-page.ts'
import { assertSays, visitor } from '#test/support/http/visitor.ts'

const t = await testApp()
after(() => t.close())
const owner = await t.make.account()
const get = (path: string, session?: string) =>
  t.anyone.get(path, {
    headers: { accept: 'text/html', ...(session === undefined ? {} : { cookie: `__Host-depot-session=${session}` }) },
  })
const policyOf = (answer: Awaited<ReturnType<typeof get>>): string | undefined =>
  /frame-src [^;]*/.exec(String(answer.headers['content-security-policy']))?.[0]

test('only pages with videos can load a player, and only that of their host', async () => {
  const [first, second, plain] = [
    await t.make.project({ owner }),
    await t.make.project({ owner }),
    await t.make.project({ owner }),
  ]
  const describe = (id: string, description: string) => t.as(owner).patch(`/v3/project/${id}`, { description })
  await describe(first.id, '[Tour](https://youtu.be/abcdefghijk)')
  await describe(
    second.id,
    'https://youtu.be/abcdefghijk\n\n<iframe src="https://player.vimeo.com/video/123456"></iframe>',
  )
  await describe(plain.id, 'See https://youtu.be/abcdefghijk and ` data-video="https://player.vimeo.com/x"`')
  const policies = async (slug: string) => {
    const answers = [
      await get(`/project/${slug}`),
      await get(`/project/${slug}`),
      await get(`/project/${slug}`, owner.token),
    ]
    for (const answer of answers) assert.equal(answer.statusCode, 200)
    return answers.map(policyOf)
  }
  const youtube = 'frame-src https://www.youtube-nocookie.com'
  assert.deepEqual(await policies(first.slug), [youtube, youtube, youtube])
  assert.equal(new Set(await policies(second.slug)).size, 1)
  assert.equal((await policies(second.slug))[0], `${youtube} https://player.vimeo.com`)
  assert.deepEqual(await policies(plain.slug), [undefined, undefined, undefined])
  const page = await get(`/project/${first.slug}`)
  assert.match(
    page.body,
    /<a href="https:\/\/www\.youtube\.com\/watch\?v=abcdefghijk" class="video"[^>]*><img src="[^"]*\/external\//,
  )
  assert.doesNotMatch(page.body, /<iframe/)
  assertValidHtml(page.body)
})

test('an image of the gallery that is the preview of a video is a card', async () => {
  const project = await t.make.project({ owner })
  const png = await sharp({ create: { width: 64, height: 36, channels: 3, background: '#246' } })
    .png()
    .toBuffer()
  const query = { ext: 'png', name: 'The tour', video: 'https://vimeo.com/123456' }
  const headers = { 'content-type': 'image/png' }
  const added = await t.as(owner).post(`/v3/project/${project.id}/gallery`, png, { query, headers })
  assert.equal(added.statusCode, 204, added.body)
  for (const path of ['gallery', 'gallery?image=1']) {
    const page = await get(`/project/${project.slug}/${path}`)
    assert.equal(policyOf(page), 'frame-src https://player.vimeo.com')
    assert.match(
      page.body,
      /<a href="https:\/\/vimeo\.com\/123456" class="video"[^>]*><img [^>]*><span dir="auto">The tour \(vimeo\.com\)/,
    )
    assertValidHtml(page.body)
  }
  const person = visitor(t, owner.token)
  const path = `/project/${project.slug}/settings/gallery`
  const page = await person.get(path)
  const name = /name="(video\.[^"]+)"/.exec(page.body)?.[1] ?? assert.fail()
  assert.match(page.body, /value="https:\/\/vimeo\.com\/123456"/)
  assertSays(
    await person.sendFrom(page, path, { do: 'save', [name]: 'https://example.org/' }),
    400,
    'The link must lead to a video',
  )
  const saved = await person.sendFrom(page, path, { do: 'save', [name]: '' })
  assert.equal(saved.statusCode, 303)
  assert.equal((await t.anyone.get(`/v3/project/${project.id}`)).json().gallery[0].video, null)
})
