// The files that the upload page sends in parts: requests with the session of the browser, and the rows of the draft.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import type { MadeProject, Person } from '#test/support/factories/factories.ts'
import { modJar } from '#test/support/http/forms.ts'
import { assertValidHtml } from '#test/support/http/html-page.ts'
import { sendForm } from '#test/support/http/send-form.ts'
import { metadata, PART } from '#test/support/http/tus-requests.ts'
import { assertSays, hiddenFields, type Visitor, visitor } from '#test/support/http/visitor.ts'

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

const FILES = '/dashboard/uploads/files'
const PAGE = '/mod/lantern/versions/new'
type Method = 'POST' | 'HEAD' | 'PATCH' | 'DELETE'

const send = (
  method: Method,
  url: string,
  headers: Record<string, string>,
  { who = person, body = '' as Buffer | '' } = {},
) =>
  t.inject({
    method,
    url,
    headers: {
      'user-agent': 'Mozilla/5.0',
      cookie: [...who.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
      'tus-resumable': '1.0.0',
      ...headers,
    },
    ...(body === '' ? {} : { payload: body }),
  })

async function begin(filename: string, bytes: Buffer, part = bytes): Promise<string> {
  const made = await send('POST', FILES, { 'upload-length': String(bytes.length), ...metadata(filename) })
  assert.equal(made.statusCode, 201, made.body)
  const path = String(made.headers.location)
  assert.ok(path.startsWith(`${FILES}/`), path)
  const sent = await send('PATCH', path, { ...PART, 'upload-offset': '0' }, { body: part })
  assert.equal(sent.statusCode, 204, sent.body)
  return path
}

const idOf = (path: string): string => path.split('/').at(-1) ?? ''

async function draft(): Promise<string> {
  const created = await t.as(owner).post('/v3/version', { project_id: project.id, status: 'draft' })
  return `${PAGE}?draft=${created.json().id}`
}

/** Presses a button of the page. */
async function press(path: string, button: string, fields: Record<string, string> = {}) {
  const page = await person.get(path)
  return sendForm(t, person, path, { ...hiddenFields(page, path), ...fields, do: button }, [])
}

test('a session uploads; other people, other sites, tokens and other clients are refused', async () => {
  const path = await begin('a.jar', Buffer.from('abcdef'), Buffer.from('abc'))
  const head = await send('HEAD', path, {})
  assert.deepEqual([head.statusCode, head.headers['upload-offset']], [204, '3'])
  assert.equal(head.headers['access-control-allow-origin'], undefined)
  const stranger = visitor(t, (await t.make.account()).token)
  assert.equal((await send('HEAD', path, {}, { who: stranger })).statusCode, 404)
  assert.equal((await send('DELETE', path, {}, { who: visitor(t) })).statusCode, 401)
  assert.equal((await send('HEAD', path, { authorization: owner.token }, { who: visitor(t) })).statusCode, 401)
  for (const headers of [{ 'sec-fetch-site': 'cross-site' }, { origin: 'https://evil.example' }] as Record<
    string,
    string
  >[])
    assert.equal((await send('DELETE', path, headers)).statusCode, 403)
  assert.equal((await send('DELETE', path, { 'tus-resumable': '' })).statusCode, 412)
  assert.equal((await send('DELETE', path, { 'sec-fetch-site': 'same-origin' })).statusCode, 204)
})

test('without scripts, the page adds a complete file, removes one that is not, and does not publish before', async () => {
  const path = await draft()
  const whole = await begin('whole.jar', modJar('whole'))
  const half = await begin('half.jar', modJar('half'), modJar('half').subarray(0, 50))
  for (const upload of [half]) assert.equal((await press(path, `add.${idOf(upload)}`)).statusCode, 303)
  const waiting = await person.get(path)
  assertValidHtml(waiting.body)
  assertSays(waiting, 200, 'To continue, choose the same file again.')
  assert.doesNotMatch(waiting.body, /whole\.jar/)
  const fields = { version_number: '2.0.0', name: 'Second', loaders: 'fabric', game_versions: '1.20.1', when: 'now' }
  assertSays(await press(path, 'publish', fields), 400, 'One file has not arrived completely.')
  // A draft that names a file before its last part shows it until it is added.
  const rest = modJar('half').subarray(50)
  assert.equal((await send('PATCH', half, { ...PART, 'upload-offset': '50' }, { body: rest })).statusCode, 204)
  assertSays(await person.get(path), 200, 'The file has arrived, but is not part of the draft yet.')
  for (const upload of [half, whole]) assert.equal((await press(path, `add.${idOf(upload)}`)).statusCode, 303)
  const added = await person.get(path)
  assert.doesNotMatch(added.body, /data-waiting/)
  for (const name of ['whole.jar', 'half.jar']) assertSays(added, 200, name)
  const other = await begin('other.jar', modJar('other'), Buffer.from('a'))
  await press(path, `add.${idOf(other)}`)
  assert.doesNotMatch((await press(path, `forget.${idOf(other)}`)).body, /data-waiting/)
  assert.equal((await send('HEAD', other, {})).statusCode, 404)
})

test('a refused name or archive is named, and its upload remains until it is removed', async () => {
  const path = await draft()
  const named = await begin('setup.exe', Buffer.from('MZ'), Buffer.from('M'))
  const page = await press(path, `add.${idOf(named)}`)
  assertSays(page, 400, 'The file name must end in one of the extensions')
  assert.doesNotMatch(page.body, /file_parts\.\d|part upload:/)
  const broken = await begin('broken.jar', Buffer.from('no archive'))
  const refused = await press(path, `add.${idOf(broken)}`)
  assertSays(refused, 400, 'Not uploaded')
  assertSays(refused, 400, 'broken.jar')
  for (const upload of [named, broken]) assert.equal((await send('DELETE', upload, {})).statusCode, 204)
  assert.equal((await press(path, `add.${idOf(broken)}`)).statusCode, 404)
})

test('a draft that is deleted takes its uploads along', async () => {
  const path = await draft()
  const half = await begin('half.jar', modJar('gone'), Buffer.from('P'))
  await press(path, `add.${idOf(half)}`)
  assert.equal((await press(path, 'discard')).statusCode, 303)
  assert.equal((await send('HEAD', half, {})).statusCode, 404)
})
