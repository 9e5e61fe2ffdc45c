// Videos in descriptions: the card, and the players that a page can load.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { testApp } from '#test/support/app/test-app.ts'
import { assertValidHtml } from '#test/support/http/html-page.ts'

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
