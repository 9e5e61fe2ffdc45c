// The pages for saved replies and takedowns.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, test } from 'node:test'
import { testApp } from '#test/support/app/test-app.ts'
import { assertValidHtml } from '#test/support/http/html-page.ts'
import { assertLeads, assertSays, visitor } from '#test/support/http/visitor.ts'

const HOSTILE = '</textarea><script>alert(1)</script>'
const TEXTS = '/moderation/texts'
const TAKEDOWN = '/moderation/takedown'

const t = await testApp()
after(() => t.close())
const mira = await t.make.account({ role: 'moderator', username: 'mira' })

const reply = {
  do: 'save',
  title: 'Name the licence',
  topic: 'Licence',
  reply_language: 'en',
  body: 'Please add {project}.',
}
const titles = async (): Promise<string[]> => {
  const { replies } = (await t.as(mira).get('/_internal/moderation/replies')).json()
  return replies.map(({ title }: { title: string }) => title)
}

test('replies are created, previewed, edited, moved and deleted; markup is only shown as text', async () => {
  const page = visitor(t, mira.token)
  const empty = await page.get(TEXTS)
  assertSays(empty, 200, 'There are no saved replies.')
  const bad = await page.sendFrom(empty, TEXTS, { ...reply, reply_language: 'English', body: HOSTILE })
  assertSays(bad, 400, 'The language')
  assertValidHtml(bad.body)
  assert.ok(bad.body.includes('&lt;/textarea&gt;'))
  const preview = await page.sendFrom(empty, TEXTS, { ...reply, do: 'preview', body: `**Bold** ${HOSTILE}` })
  assertSays(preview, 200, '<strong>Bold</strong>')
  assert.ok(!preview.body.includes('<script>alert'))
  assertLeads(await page.sendFrom(empty, TEXTS, reply), `${TEXTS}?done=text-saved`)
  assertLeads(
    await page.sendFrom(empty, TEXTS, { ...reply, title: `Second ${HOSTILE}`, body: HOSTILE }),
    `${TEXTS}?done=text-saved`,
  )
  const list = await page.get(TEXTS)
  assertSays(list, 200, 'Name the licence')
  assertValidHtml(list.body)
  assert.ok(!list.body.includes('<script>alert'))
  const [first, second] = (await t.as(mira).get('/_internal/moderation/replies')).json().replies
  assertLeads(await page.sendFrom(list, TEXTS, { do: 'up', id: second.id }), `${TEXTS}?done=texts-ordered`)
  assert.equal((await titles())[1], 'Name the licence')
  assertSays(await page.sendFrom(list, TEXTS, { do: 'up', id: second.id }), 400, 'cannot be moved further')
  const edit = await page.get(`${TEXTS}?edit=${first.id}`)
  assertSays(edit, 200, 'Edit Name the licence')
  assertLeads(
    await page.sendFrom(edit, TEXTS, { ...reply, id: first.id, title: 'Add a licence' }),
    `${TEXTS}?done=text-saved`,
  )
  assertLeads(await page.sendFrom(list, TEXTS, { do: 'delete', id: second.id }), `${TEXTS}?done=text-deleted`)
  assert.deepEqual(await titles(), ['Add a licence'])
  const gone = await page.sendFrom(list, TEXTS, { ...reply, id: second.id, body: 'My text' })
  assertSays(gone, 404, 'does not exist')
  assertSays(gone, 404, 'My text')
  for (const path of [TEXTS, TAKEDOWN])
    assertSays(await visitor(t, (await t.make.account()).token).get(path), 404, 'does not exist')
})

test('a takedown shows its consequences with numbers, and concerns only the projects that were shown', async () => {
  const bytes = randomBytes(64)
  // Only one of several projects with the same content can be public.
  const make = async (status = 'draft') => {
    const project = await t.make.project({ name: `Lantern ${HOSTILE}`, status })
    const version = await t.make.version({ project })
    const { sha512 } = await t.make.file({ version, project, bytes, filename: 'lantern.jar' })
    return { project, sha512 }
  }
  const [one, two] = [await make('approved'), await make()]
  const page = visitor(t, mira.token)
  const form = await page.get(`${TAKEDOWN}?kind=file&id=${one.sha512}&report=AABBCCDD`)
  assertSays(form, 200, 'All projects with a file')
  assert.match(form.body, /name="visibility" value="rejected" checked/)
  assert.match(form.body, /name="block_files" value="true" checked/)
  assertValidHtml(form.body)
  const fields = {
    kind: 'file',
    id: one.sha512,
    reason: 'malicious',
    reference: 'Report AABBCCDD',
    visibility: 'withheld',
    block_files: 'true',
    message: `It is **malware** ${HOSTILE}`,
    report: '',
  }
  const refused = await page.sendFrom(form, TAKEDOWN, { ...fields, do: 'preview', visibility: 'cleared' })
  assertSays(refused, 400, 'The visibility must be one of')
  assertSays(await page.sendFrom(form, TAKEDOWN, { ...fields, do: 'preview', id: 'abc' }), 400, 'SHA-512')
  const preview = await page.sendFrom(form, TAKEDOWN, { ...fields, do: 'preview' })
  assertSays(preview, 200, '2 projects will be withheld.')
  assertSays(preview, 200, 'The content of 1 file will be blocked on the whole instance.')
  assertSays(preview, 200, '<strong>malware</strong>')
  assertValidHtml(preview.body)
  assert.ok(!preview.body.includes('<script>alert'))
  const status = async ({ project }: typeof one) => (await t.as(mira).get(`/v3/project/${project.id}`)).json().status
  assert.deepEqual([await status(one), await status(two)], ['approved', 'draft'])

  const three = await make()
  const projects = [one.project.id, two.project.id]
  const done = await page.sendFrom(preview, TAKEDOWN, { do: 'confirm', projects })
  assert.match(String(done.headers.location), new RegExp(`^${TAKEDOWN}/[0-9A-Za-z]{8}\\?done=taken-down$`))
  assert.deepEqual([await status(one), await status(two), await status(three)], ['withheld', 'withheld', 'draft'])
  const result = await page.get(String(done.headers.location))
  assertValidHtml(result.body)
  assert.ok(!result.body.includes('<script>alert'))
  for (const text of ['Changed parts', 'Withheld', 'The content of 1 file is blocked', 'Report AABBCCDD'])
    assertSays(result, 200, text)
  assert.ok(!result.body.includes('Lift block'), 'only operators lift a block')

  const admin = visitor(t, (await t.make.account({ role: 'admin' })).token)
  const list = await admin.get(`${TAKEDOWN}/blocked`)
  assertSays(list, 200, one.sha512)
  assertValidHtml(list.body)
  assertLeads(
    await admin.sendFrom(list, `${TAKEDOWN}/blocked`, { do: 'lift', hash: one.sha512 }),
    `${TAKEDOWN}/blocked?done=block-lifted`,
  )
  const path = String(done.headers.location).split('?')[0] ?? ''
  // The form leads to the last takedowns, and the page of a version names a blocked file without a link.
  assertSays(await page.get(TAKEDOWN), 200, new RegExp(`href="${path}"`))
  assertSays(await page.get(`/moderation/project/${one.project.id}`), 200, new RegExp(`href="${path}"`))
  assertLeads(await page.sendFrom(result, path, { do: 'undo' }), `${path}?done=takedown-undone`)
  assert.deepEqual([await status(one), await status(two)], ['approved', 'draft'])
  const undone = await page.get(path)
  assertSays(undone, 200, 'No file is blocked.')
  assert.ok(!undone.body.includes('Undo takedown'))
})

test('the page of a version names a blocked file, without a link, until the block is lifted', async () => {
  const project = await t.make.project({ slug: 'blocked-lamp' })
  const version = await t.make.version({ project })
  const { sha512 } = await t.make.file({ version, project, bytes: randomBytes(64), filename: 'blocked.jar' })
  const path = `/mod/blocked-lamp/version/${version.id}`
  const reader = visitor(t)
  assert.match((await reader.get(path)).body, /blocked\.jar" download/)
  const body = { kind: 'file', id: sha512, visibility: 'withheld', reason: 'malicious' }
  const { id } = (await t.as(mira).post('/_internal/moderation/takedown', body)).json()
  const blocked = await reader.get(path)
  assertSays(blocked, 200, 'The moderators of this instance blocked this file')
  assert.ok(!/blocked\.jar" download/.test(blocked.body.slice(blocked.body.indexOf('class="files"'))))
  await t.as(mira).post(`/_internal/moderation/takedown/${id}/undo`)
  assert.match((await reader.get(path)).body, /blocked\.jar" download/)
})

test('each kind of content offers its visibilities', async () => {
  const page = visitor(t, mira.token)
  const project = await t.make.project()
  const owner = project.owner
  const collection = (await t.as(owner).post('/v3/collection', { name: 'Buy lamps' })).json()
  await t.as(owner).patch(`/v3/user/${owner.id}`, { bio: 'Buy lamps' })
  for (const [kind, id, visibility, text] of [
    ['project', `https://depot.test/mod/${project.slug}?page=2`, 'rejected', '1 project will be rejected'],
    ['project', 'https://depot.test/mod/%zz', 'rejected', undefined],
    ['project', `https://elsewhere.example/mod/${project.slug}`, 'rejected', undefined],
    ['collection', collection.id, 'rejected', 'The collection Buy lamps will be hidden'],
    ['user', owner.username, 'cleared', 'The text in the profile of'],
  ]) {
    const path = `${TAKEDOWN}?${new URLSearchParams({ kind: kind ?? '', id: id ?? '' })}`
    const fields = { kind: kind ?? '', id, visibility: visibility ?? '', reason: 'spam' }
    const preview = await page.send(path, TAKEDOWN, { ...fields, do: 'preview' })
    if (text === undefined) {
      assertSays(preview, 400, /The ID is not a base62 identifier|elsewhere\.example is another site/)
      continue
    }
    assertSays(preview, 200, text)
    const done = await page.sendFrom(preview, TAKEDOWN, { do: 'confirm' })
    const result = await page.get(String(done.headers.location))
    assertSays(result, 200, 'The content is taken down.')
    assertValidHtml(result.body)
  }
  assert.equal((await t.anyone.get(`/v3/user/${owner.id}`)).json().bio, null)
  assertSays(await page.send(TAKEDOWN, TAKEDOWN, { kind: 'version', do: 'choose' }), 200, 'Unlisted')
})

test('operators delete content that was taken down, after typing its name; moderators do not', async () => {
  const admin = await t.make.account({ role: 'admin', username: 'olga' })
  const project = await t.make.project({ name: `Copied ${HOSTILE}`, slug: 'copied' })
  const lone = await t.make.version({ project, version_number: '1.0.0' })
  const bytes = randomBytes(64)
  const { sha512 } = await t.make.file({ version: lone, project, bytes, filename: 'copied.jar' })
  const other = await t.make.project({ slug: 'other-copy' })
  const both = await t.make.version({ project: other, version_number: '2.0.0' })
  await t.make.file({ version: both, project: other, bytes: randomBytes(32), filename: 'own.jar' })
  await t.make.file({ version: both, project: other, bytes, filename: 'copied.jar', primary: false })
  const page = visitor(t, admin.token)
  const path = `${TAKEDOWN}/delete?kind=file&id=${sha512}`
  const early = await page.get(path)
  assertSays(early, 200, 'Take the content down first.')
  assertValidHtml(early.body)
  const fields = { kind: 'file', id: sha512, do: 'confirm', name: sha512.slice(0, 12) }
  for (const { id } of [project, other]) await t.as(mira).patch(`/v3/project/${id}`, { status: 'withheld' })
  const confirm = await page.get(path)
  assertSays(confirm, 200, '2 versions and their files are deleted.')
  assertValidHtml(confirm.body)
  assert.ok(!confirm.body.includes('<script>alert'))
  assertSays(await page.sendFrom(confirm, `${TAKEDOWN}/delete`, { ...fields, name: 'x' }), 400, 'The text must be')
  const moderator = visitor(t, mira.token)
  assertSays(await moderator.get(path), 404, 'does not exist')
  assert.ok(!(await moderator.get(`${TAKEDOWN}?kind=file&id=${sha512}`)).body.includes('Delete permanently'))
  assertSays(await page.get(`${TAKEDOWN}?kind=file&id=${sha512}`), 200, 'Delete permanently')
  assertLeads(await page.sendFrom(confirm, `${TAKEDOWN}/delete`, fields), `${TAKEDOWN}?done=content-deleted`)
  const left = async (id: string) => (await t.as(admin).get(`/v3/version/${id}`)).statusCode
  assert.deepEqual([await left(lone.id), await left(both.id)], [404, 200])
  assert.equal((await t.as(admin).get(`/v3/version/${both.id}`)).json().files.length, 1)
  const { entries } = (await t.as(admin).get('/_internal/admin/audit-log')).json()
  const actions = entries.map(({ action }: { action: string }) => action)
  assert.ok(actions.includes('version.deleted') && actions.includes('version.file_deleted'))
  const gone = `${TAKEDOWN}/delete?kind=project&id=${project.id}`
  const last = await page.get(gone)
  assertLeads(
    await page.sendFrom(last, `${TAKEDOWN}/delete`, { kind: 'project', id: project.id, do: 'confirm', name: 'copied' }),
    `${TAKEDOWN}?done=content-deleted`,
  )
  for (const bad of ['kind=user&id=AABBCCDD', 'kind=file&id=abc', ''])
    assertSays(await page.get(`${TAKEDOWN}/delete?${bad}`), 404, 'does not exist')
})

test('the empty page offers replies to begin with', async () => {
  await t.deps.db.deleteFrom('saved_reply').execute()
  const page = visitor(t, mira.token)
  const empty = await page.get(TEXTS)
  const sent = await page.sendFrom(empty, TEXTS, { do: 'starter' })
  const after = await page.get(assertLeads(sent, `${TEXTS}?done=texts-added&count=18`))
  assertSays(after, 200, '18 replies were added')
  assertSays(after, 200, 'Erlaubnis für fremde Werke')
  assert.ok(!after.body.includes('value="starter"'))
  assertValidHtml(after.body)
})
