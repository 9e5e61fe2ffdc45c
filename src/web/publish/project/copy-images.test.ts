// Images of other hosts in the editor: their preview, and copies in the project.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import sharp from 'sharp'
import { testApp } from '#test/support/app/test-app.ts'
import { assertSays, visitor } from '#test/support/http/visitor.ts'
import { IMAGE_HOST, startImageSource } from '#test/support/stand-ins/image-source.ts'

const source = await startImageSource()
const t = await testApp({ env: { OUTGOING_ALLOW: IMAGE_HOST }, deps: source.deps })
after(async () => {
  await t.close()
  source.close()
})
const owner = await t.make.account()
const project = await t.make.project({ owner, slug: 'lantern' })
await t.make.version({ project, version_number: '1.0.0' })
const png = await sharp({ create: { width: 40, height: 20, channels: 3, background: '#804020' } })
  .png()
  .toBuffer()
source.add('/a.png', png)
source.add('/b.png?x=1&y=2', png)
source.add('/badge.svg', '<svg xmlns="http://www.w3.org/2000/svg" width="90" height="20"></svg>')
const PATH = '/mod/lantern/settings/description'
const at = (path: string): string => source.address + path
const written = `![A](${at('/a.png')}) <img src="${at('/b.png?x=1&amp;y=2')}"> ![Badge](${at('/badge.svg')}) ![Missing](${at('/gone.png')}) ![A](${at('/a.png')}#dark)`

test('the preview shows only images of the saved text, and the editor copies these into the project', async () => {
  const person = visitor(t, owner.token)
  const before = await person.get(PATH)
  assert.doesNotMatch(before.body, /value="copy"/)
  const preview = await person.send(PATH, PATH, { description: written, do: 'preview' })
  assert.doesNotMatch(preview.body, /\/external\//)
  assertSays(preview, 200, 'Badge (images.example.org')
  assertSays(preview, 200, 'appears after saving')
  const refused = await person.send(PATH, PATH, { description: written, do: 'copy' })
  assertSays(refused, 200, 'No image was copied.')
  assert.equal(source.requests.length, 0)

  await t.as(owner).patch(`/v3/project/${project.id}`, { description: written })
  const saved = await person.get(PATH)
  assert.match(saved.body, /\/external\//)
  assert.match(saved.body, /value="copy"/)
  const copied = await person.send(PATH, PATH, { description: `${written} More`, do: 'copy' })
  assertSays(copied, 200, '2 images were copied')
  assertSays(copied, 200, `${at('/badge.svg')}</span>: An SVG cannot be copied.`)
  assertSays(copied, 200, `${at('/gone.png')}</span>: Depot could not fetch the image.`)
  const text = /<textarea[^>]*name="description"[^>]*>\n([\s\S]*?)<\/textarea>/.exec(copied.body)?.[1] ?? ''
  const urls = [...text.matchAll(/https:\/\/depot\.test\/data\/[\w./]+/g)].map(([url]) => url)
  assert.equal(urls.length, 3, text)
  assert.equal(urls[0], urls[2])
  assert.ok(text.includes(at('/badge.svg')) && text.endsWith(' More'), text)
  for (const url of urls) assert.equal((await t.anyone.get(new URL(url).pathname)).statusCode, 200)
  const { description } = (await t.as(owner).get(`/v3/project/${project.id}`)).json()
  assert.equal(description, written, 'nothing is saved yet')
})

test('members without the permission copy nothing', async () => {
  const reader = await t.make.account()
  await t.make.member({ teamId: project.teamId, accountId: reader.id })
  const person = visitor(t, reader.token)
  const page = await person.get(PATH)
  await t.deps.db.updateTable('team_member').set({ permissions: 0 }).where('account_id', '=', reader.id).execute()
  const answer = await person.sendFrom(page, PATH, { description: written, do: 'copy' })
  assert.equal(answer.statusCode, 403)
})

test('relative links without a known repository are named in the editor, and with one they lead to its files', async () => {
  const person = visitor(t, owner.token)
  const text = '![Shot](img/shot.png) [Setup](docs/setup.md)'
  const nowhere = await person.send(PATH, PATH, { description: text, do: 'preview' })
  assertSays(nowhere, 200, 'These links and images lead nowhere')
  assert.match(nowhere.body, /<li><code class="long">docs\/setup\.md<\/code><\/li>/)
  const links = { source: 'https://github.com/lamps/lantern' }
  await t.as(owner).patch(`/v3/project/${project.id}`, { link_urls: links, description: text })
  const page = await t.anyone.get('/mod/lantern')
  assert.match(page.body, /href="https:\/\/github\.com\/lamps\/lantern\/blob\/HEAD\/docs\/setup\.md"/)
  const [, encoded = ''] = /<img src="[^"]*\/external\/[\w-]+\/([\w-]+)" alt="Shot"/.exec(page.body) ?? []
  assert.equal(
    Buffer.from(encoded, 'base64url').toString(),
    'https://raw.githubusercontent.com/lamps/lantern/HEAD/img/shot.png',
  )
  const preview = await person.send(PATH, PATH, { description: `${text} ![New](img/new.png)`, do: 'preview' })
  assert.match(preview.body, /alt="Shot"/)
  assertSays(preview, 200, 'New (raw.githubusercontent.com, appears after saving)')
  assert.doesNotMatch(preview.body, /lead nowhere/)
})
