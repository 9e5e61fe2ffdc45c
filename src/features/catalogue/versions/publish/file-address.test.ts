// A URL that ever returned a file never returns another file.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, test } from 'node:test'
import { testApp } from '#test/support/app/test-app.ts'
import { assertError } from '#test/support/http/account-steps.ts'
import { form, modJar, versionData } from '#test/support/http/forms.ts'

const t = await testApp()
after(() => t.close())
const project = await t.make.project()

type File = { url: string; filename: string; hashes: { sha1: string } }

async function publish(): Promise<string> {
  const salt = Math.random().toString()
  const { payload, headers } = await form({ project_id: project.id, ...versionData() }, [
    { name: 'file', filename: 'main.jar', bytes: modJar(salt) },
  ])
  return (await t.as(project.owner).post('/v3/version', payload, { headers })).json().id
}

async function add(version: string, filename: string, bytes: Uint8Array) {
  const { payload, headers } = await form(undefined, [{ name: 'part', filename, bytes }])
  return t.as(project.owner).post(`/v3/version/${version}/file`, payload, { headers })
}

const remove = async (bytes: Uint8Array) =>
  t.as(project.owner).delete(`/v3/version_file/${createHash('sha1').update(bytes).digest('hex')}`)

test('a name that was used stays with its bytes after the file is deleted', async () => {
  const version = await publish()
  const [first, other] = [modJar('first bytes'), modJar('other bytes')]
  assert.equal((await add(version, 'extra.jar', first)).statusCode, 204)
  const file = (await t.anyone.get(`/v3/version/${version}`))
    .json()
    .files.find(({ filename }: File) => filename === 'extra.jar') as File
  const address = new URL(file.url).pathname
  assert.deepEqual((await t.anyone.get(address)).rawPayload, first)
  assert.equal((await remove(first)).statusCode, 204)
  assert.equal((await t.anyone.get(address)).statusCode, 404)

  const refused = await add(version, 'extra.jar', other)
  assert.deepEqual([refused.statusCode, refused.json().error, refused.json().details.field], [409, 'conflict', 'part'])
  assert.match(refused.json().description, /extra\.jar.*Choose another file name/)
  assert.equal((await t.anyone.get(address)).statusCode, 404)
  assert.deepEqual(
    await t.deps.db.selectFrom('upload_claim').selectAll().execute(),
    [],
    'what was stored for the rejected file is removed',
  )

  assert.equal((await add(version, 'other.jar', other)).statusCode, 204, 'under another name')
  assert.equal((await add(version, 'extra.jar', first)).statusCode, 204, 'the same bytes may come back')
  assert.deepEqual((await t.anyone.get(address)).rawPayload, first)
})

test('another version has separate URLs, also for the same file name', async () => {
  const [one, another] = [await publish(), await publish()]
  assert.equal((await add(one, 'extra.jar', modJar('of one'))).statusCode, 204)
  assert.equal((await add(another, 'extra.jar', modJar('of another'))).statusCode, 204)
})

test('of two concurrent uploads of different files under a freed name, neither gets the URL of the first', async () => {
  const version = await publish()
  const first = modJar('freed')
  assert.equal((await add(version, 'freed.jar', first)).statusCode, 204)
  assert.equal((await remove(first)).statusCode, 204)
  const answers = await Promise.all(['a', 'b', 'c'].map((salt) => add(version, 'freed.jar', modJar(`freed ${salt}`))))
  assert.deepEqual(
    answers.map(({ statusCode }) => statusCode),
    [409, 409, 409],
  )
})

test('two names that are one file on Windows or macOS are refused in one version', async () => {
  for (const [index, [one, other]] of [
    ['Lantern.jar', 'lantern.JAR'],
    ['\u00e9.jar', 'e\u0301.jar'],
  ].entries()) {
    const files = [
      { name: 'one', filename: one ?? '', bytes: modJar(`one ${index}`) },
      { name: 'other', filename: other ?? '', bytes: modJar(`other ${index}`) },
    ]
    const { payload, headers } = await form(
      versionData({ project_id: project.id, file_parts: ['one', 'other'] }),
      files,
    )
    assertError(await t.as(project.owner).post('/v3/version', payload, { headers }), 400, 'invalid_input', 'other')
    const version = await publish()
    assert.equal((await add(version, one ?? '', modJar(`first ${index}`))).statusCode, 204)
    assertError(await add(version, other ?? '', modJar(`second ${index}`)), 400, 'invalid_input', 'part')
  }
})
