// The story of a README in a real browser, on an empty instance: an author pastes the text of their repository, with badges,
// images, a video, a table and an alert, and visitors see all of it without a request to another host before their click.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import sharp from 'sharp'
import { checkFits, newPerson, openSite, type Site } from '#test/support/browser/chromium.ts'
import { PASSWORD } from '#test/support/http/account-steps.ts'
import { IMAGE_HOST, type ImageSource, startImageSource } from '#test/support/stand-ins/image-source.ts'
import {
  appointModerator,
  approve,
  firstAdmin,
  makeProject,
  makeToken,
  publish,
  signUp,
} from '#test/support/story/empty-instance.ts'

const BADGE =
  '<svg xmlns="http://www.w3.org/2000/svg" width="90" height="20"><rect width="90" height="20" fill="#4c1"/><text x="8" y="14" fill="#fff">passing</text></svg>'

let source: ImageSource
let site: Site
before(async () => {
  source = await startImageSource()
  site = await openSite({ OUTGOING_ALLOW: IMAGE_HOST }, undefined, undefined, { deps: source.deps })
  source.add('/badge.svg', BADGE, { 'content-type': 'image/svg+xml' })
  const png = await sharp({ create: { width: 320, height: 180, channels: 3, background: '#406080' } })
    .png()
    .toBuffer()
  source.add('/cave.png', png, { 'content-type': 'image/png' })
})
after(async () => {
  await site?.close()
  source?.close()
})

const readme = (host: string): string => `# Emberlight

[![Build](${host}/badge.svg)](https://ci.example.org/emberlight)
![A cave](${host}/cave.png)
![A lost image](${host}/lost.png)

> [!WARNING]
> Make a backup of your world first.

https://www.youtube.com/watch?v=abcdefghijk

| Key | Default |
|:--|--:|
| \`nights\` | 3 |
`

test('an author pastes a README, and visitors see its images and its video through this site only', async () => {
  const { t, url } = site
  const admin = await firstAdmin(t)
  const [author, moderator] = [await signUp(t, 'ida'), await signUp(t, 'mira')]
  await appointModerator(t, admin, moderator)
  const token = await makeToken(t, author)
  const project = await makeProject(t, token, 'emberlight')
  await publish(t, token, { project_id: project, version_number: '1.0.0' })
  await approve(t, token, moderator, project)

  const { context, page, problems } = await newPerson(site)
  await page.goto(`${url}/account/sign-in`)
  await page.getByLabel('Username or email address').fill('ida')
  await page.getByLabel('Password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Sign in', exact: true }).first().click()
  await page.waitForURL(`${url}/account`)
  await page.goto(`${url}/project/emberlight/settings/description`)
  await page.getByLabel('Description', { exact: true }).fill(readme(source.address))
  await page.getByRole('button', { name: 'Save changes' }).first().click()
  await page.waitForURL(/done=saved/)
  assert.deepEqual(problems, [])
  await context.close()

  const visitor = await newPerson(site)
  const hosts = new Set<string>()
  visitor.page.on('request', (request) => hosts.add(new URL(request.url()).host))
  await visitor.context.route('https://www.youtube-nocookie.com/**', (route) =>
    route.fulfill({ contentType: 'text/html', body: '<!doctype html><title>Player</title><p>The player</p>' }),
  )
  await visitor.page.goto(`${url}/project/emberlight`)
  const text = visitor.page.locator('.prose')
  for (const alt of ['Build', 'A cave']) {
    const image = text.locator(`img[alt="${alt}"]`)
    await image.scrollIntoViewIfNeeded()
    await image.evaluate('(image) => image.decode()')
  }
  const lost = text.getByRole('link', { name: 'A lost image' })
  assert.equal(await lost.getAttribute('href'), `${source.address}/lost.png`)
  await text.getByText('Make a backup of your world first.').waitFor()
  await text.getByRole('cell', { name: '3', exact: true }).waitFor()
  assert.deepEqual([...hosts], [new URL(url).host])
  await checkFits(visitor.page)
  for (const { headers } of source.requests) assert.equal(headers['user-agent']?.includes('Chrome'), false)

  await text.getByRole('button', { name: /video/i }).or(text.locator('a.video')).first().click()
  await visitor.page.frameLocator('iframe').getByText('The player').waitFor()
  assert.deepEqual(visitor.problems, [])
  await visitor.context.close()
})
