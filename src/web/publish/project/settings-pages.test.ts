// Description, tags, links and gallery in the project settings.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import sharp from 'sharp'
import { PROJECT_PERMISSIONS } from '#features/basics/access/permissions.ts'
import type { ProjectView } from '#features/catalogue/projects/views.ts'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import type { MadeProject, Person } from '#test/support/factories/factories.ts'
import { assertValidHtml } from '#test/support/http/html-page.ts'
import { assertLeads, assertSays, hiddenFields, type Visitor, visitor } from '#test/support/http/visitor.ts'

const HOSTILE = '</textarea><script>alert(1)</script>'

let t: TestApp
let owner: Person
let project: MadeProject
let person: Visitor
before(async () => {
  t = await testApp()
  owner = await t.make.account({ username: 'ida-marsh' })
  project = await t.make.project({ owner, slug: 'lantern', name: 'Lantern' })
  await t.make.version({ project, version_number: '1.0.0' })
  person = visitor(t, owner.token)
})
after(() => t?.close())

const at = (section: string): string => `/mod/lantern/settings/${section}`
const view = async (): Promise<ProjectView> => (await t.as(owner).get(`/v3/project/${project.id}`)).json()

/** Sends a form with files, as a browser does. */
async function sendFiles(
  section: string,
  fields: Record<string, string>,
  files: [string, string, Buffer][],
  sender = person,
) {
  const path = at(section)
  const page = await sender.get(path)
  const form = new FormData()
  for (const [name, value] of Object.entries({ ...hiddenFields(page, path), ...fields })) form.append(name, value)
  for (const [name, filename, bytes] of files) form.append(name, new File([new Uint8Array(bytes)], filename))
  const request = new Request('http://x', { method: 'POST', body: form })
  return t.inject({
    method: 'POST',
    url: path,
    payload: Buffer.from(await request.arrayBuffer()),
    headers: {
      'content-type': request.headers.get('content-type') ?? '',
      cookie: [...sender.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
      accept: 'text/html',
      'user-agent': 'Mozilla/5.0',
    },
  })
}

let shade = 0
const picture = (): Promise<Buffer> => {
  shade += 20
  return sharp({ create: { width: 400, height: 225, channels: 3, background: { r: shade, g: 9, b: 9 } } })
    .png()
    .toBuffer()
}

test('each page is valid and shows members without the permission only the values', async () => {
  const reader = await t.make.account()
  await t.make.member({ teamId: project.teamId, accountId: reader.id, permissions: 0 })
  const other = visitor(t, reader.token)
  for (const section of ['description', 'tags', 'links', 'gallery']) {
    const own = await person.get(at(section))
    assert.equal(own.statusCode, 200, section)
    assertValidHtml(own.body, section)
    assert.match(own.body, /aria-current="page"/)
    const seen = await other.get(at(section))
    assertSays(seen, 200, 'You can view this page')
    assertValidHtml(seen.body, section)
    assert.ok(!seen.body.includes('class="save"'), section)
  }
})

test('a description is previewed without saving it, saved, and refused if it is too long', async () => {
  const path = at('description')
  const page = await person.get(path)
  const typed = `# Hello\r\n\r\n${HOSTILE}`
  const seen = await person.sendFrom(page, path, { description: typed, do: 'preview' })
  assertSays(seen, 200, /<h2[^>]*>.*Hello/s)
  assertValidHtml(seen.body)
  assert.equal((await view()).description.includes('Hello'), false)
  assertLeads(await person.sendFrom(page, path, { description: typed, do: 'save' }), `${path}?done=saved`)
  assert.equal((await view()).description, typed.replaceAll('\r\n', '\n'))
  const long = await person.sendFrom(await person.get(path), path, { description: 'ü'.repeat(65_537), do: 'save' })
  assertSays(long, 400, 'The description must')
})

test('an image is stored and added to the end of the text', async () => {
  const answer = await sendFiles('description', { description: 'Text', do: 'image' }, [
    ['image', 'a [b].png', await picture()],
  ])
  assertSays(answer, 200, /Text\n\n!\[a {2}b \]\(http/)
  const large = await sendFiles('description', { description: 'Kept as well', do: 'image' }, [
    ['image', 'a.png', Buffer.alloc(6 * 1024 * 1024)],
  ])
  for (const text of ['Kept as well', 'id="image-error"', 'The image must be at most 1 MiB.'])
    assertSays(large, 400, text)
  const none = await sendFiles('description', { description: 'Kept', do: 'image' }, [])
  assertSays(none, 400, 'Kept')
})

test('an image for a changelog belongs to the version, and needs the permission to upload versions', async () => {
  const version = await t.make.version({ project, version_number: '1.1.0' })
  const send = async (id: string, sender = person) =>
    sendFiles(
      'description',
      { description: '', do: 'image', version: id },
      [['image', 'a.png', await picture()]],
      sender,
    )
  assertSays(await send(version.id), 200, /!\[a\]\(http/)
  const images = await t.deps.db.selectFrom('image').select('context').where('version_id', '=', version.id).execute()
  assert.deepEqual(images, [{ context: 'version' }])
  const foreign = await t.make.version({ project: await t.make.project({ owner, slug: 'other' }) })
  const editor = await t.make.account()
  await t.make.member({ teamId: project.teamId, accountId: editor.id, permissions: PROJECT_PERMISSIONS.EDIT_BODY })
  assertSays(await send(foreign.id), 404, 'The requested version does not exist')
  assert.equal((await send(version.id, visitor(t, editor.token))).statusCode, 403)
})

test('tags and licence: only changed fields are sent, and errors keep the choices', async () => {
  const path = at('tags')
  const page = await person.get(path)
  const fields = { license_id: 'MIT', licence_expression: '', license_url: '' }
  const names = ['magic', 'utility', 'food', 'storage']
  const many = await person.sendFrom(page, path, { ...fields, categories: names })
  assertSays(many, 400, 'The featured tags must be at most 3')
  assert.match(many.body, /value="storage" checked/)
  assertLeads(await person.sendFrom(page, path, { ...fields, categories: names.slice(0, 2) }), `${path}?done=saved`)
  const saved = await view()
  assert.deepEqual([saved.categories.toSorted(), saved.license.id], [['magic', 'utility'], 'MIT'])
  const next = await person.get(path)
  const expression = { ...fields, license_id: 'other', licence_expression: 'MIT OR', categories: names.slice(0, 2) }
  assertSays(await person.sendFrom(next, path, expression), 400, 'value="MIT OR"')
  const good = { ...expression, licence_expression: 'MIT OR Apache-2.0', license_url: 'https://licence.example' }
  assertLeads(await person.sendFrom(next, path, good), `${path}?done=saved`)
  assertSays(await person.get(path), 200, 'value="MIT OR Apache-2.0"')
  assert.equal((await view()).license.url, 'https://licence.example')
})

test('links: an empty field removes a link, and a wrong URL is named', async () => {
  const path = at('links')
  const page = await person.get(path)
  const fields = Object.fromEntries(
    [...page.body.matchAll(/name="(link_urls\.[^"]+)"/g)].map(([, name = '']) => [name, '']),
  )
  const wrong = await person.sendFrom(page, path, { ...fields, 'link_urls.wiki': 'http://a.example' })
  assertSays(wrong, 400, 'id="link_urls.wiki-error"')
  assertValidHtml(wrong.body)
  assertLeads(
    await person.sendFrom(page, path, { ...fields, 'link_urls.wiki': ' https://a.example ' }),
    `${path}?done=saved`,
  )
  assert.equal((await view()).link_urls['wiki']?.url, 'https://a.example')
  assertLeads(await person.sendFrom(await person.get(path), path, fields), `${path}?done=saved`)
  assert.deepEqual((await view()).link_urls, {})
})

test('gallery: images are added, described, ordered, removed and restored', async () => {
  const path = at('gallery')
  const bad = Buffer.from('not an image')
  const added = await sendFiles('gallery', { do: 'add' }, [
    ['images', 'a.png', await picture()],
    ['images', 'b.png', await picture()],
    ['images', 'bad.png', bad],
    ['images', 'large.png', Buffer.alloc(6 * 1024 * 1024)],
    ['images', 'c.png', await picture()],
  ])
  assertSays(added, 400, /bad\.png: .*large\.png: The image must be at most 5 MiB\. The other images were added \(3\)/)
  assertValidHtml(added.body)
  const order = async () => (await view()).gallery.map(({ url }) => url)
  const [first = '', second = '', third = ''] = await order()
  const page = await person.get(path)
  const keys = [...page.body.matchAll(/name="name\.([^"]+)"/g)].map(([, key = '']) => key)
  assert.equal(keys.length, 3)
  const texts: Record<string, string> = { featured: keys[1] ?? '' }
  for (const key of keys) Object.assign(texts, { [`name.${key}`]: `T ${key}`, [`description.${key}`]: HOSTILE })
  const moved = await person.sendFrom(page, path, { ...texts, do: `start.${keys[2]}` })
  assertLeads(moved, `${path}?done=moved#item-${keys[2]}`)
  assert.deepEqual(await order(), [third, first, second])
  const gallery = (await view()).gallery
  assert.deepEqual(
    gallery.map(({ name, description, featured }) => [name, description, featured]),
    [keys[2], keys[0], keys[1]].map((key) => [`T ${key}`, HOSTILE, key === keys[1]]),
  )
  const again = await person.get(path)
  assertValidHtml(again.body)
  assertLeads(
    await person.sendFrom(again, path, { ...texts, do: `later.${keys[2]}` }),
    `${path}?done=moved#item-${keys[2]}`,
  )
  assert.deepEqual(await order(), [first, third, second])

  const removal = await person.sendFrom(again, path, { ...texts, do: `remove.${keys[1]}` })
  assert.equal(removal.statusCode, 303)
  assert.deepEqual(await order(), [first, third])
  const notice = await person.get(String(removal.headers.location))
  assertSays(notice, 200, 'The image was removed')
  assertValidHtml(notice.body)
  const restored = await person.sendFrom(notice, path)
  assertLeads(restored, `${path}?done=image-restored`)
  assert.deepEqual(await order(), [first, third, second])
  assert.equal((await view()).gallery[2]?.featured, true)
  assertSays(await person.sendFrom(again, path, { ...texts, do: 'remove.unknown' }), 409, 'does not exist')
  const titled = (title: string) => ({ ...texts, [`name.${keys[0]}`]: title, do: 'save' })
  assertLeads(await person.sendFrom(again, path, titled('Theirs')), `${path}?done=saved`)
  const conflict = await person.sendFrom(again, path, titled('Mine'))
  assertSays(conflict, 409, `Saved by <bdi>${owner.username}</bdi>, <time`)
})
