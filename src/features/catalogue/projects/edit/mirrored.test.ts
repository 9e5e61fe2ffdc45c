// Mirrored projects and versions: their origin in the API and on pages, and which edits are possible.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import sharp from 'sharp'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import type { MadeProject, Person } from '#test/support/factories/factories.ts'
import { assertError } from '#test/support/http/account-steps.ts'

let t: TestApp
let owner: Person
let project: MadeProject
let version: { id: string }
let file: { sha512: string }

const origin = (id: string, page: string) => ({
  address: 'https://source.example',
  id,
  url: `https://source.example/${page}`,
  author: 'Mira <b>',
})

before(async () => {
  t = await testApp()
  owner = await t.make.account()
  project = await t.make.project({ owner })
  version = await t.make.version({ project, version_number: '2.0.0' })
  file = await t.make.file({ version, project, bytes: Buffer.from('one') })
  await t.make.file({ version, project, bytes: Buffer.from('two'), filename: 'two.jar', primary: false })
  const [ofProject, ofVersion] = [origin('AABBCCDD', 'mod/lantern'), origin('EEFFGGHH', 'mod/lantern/version/2.0.0')]
  const stored = (of: object, status: string) => JSON.stringify({ ...of, mirror: 'M', status })
  await t.deps.db
    .updateTable('project')
    .set({ origin: stored(ofProject, 'approved') })
    .where('id', '=', project.id)
    .execute()
  await t.deps.db
    .updateTable('version')
    .set({ origin: stored(ofVersion, 'listed') })
    .where('id', '=', version.id)
    .execute()
})
after(() => t.close())

test('v3 and the pages show the origin, and v2 does not', async () => {
  assert.deepEqual((await t.anyone.get(`/v3/project/${project.id}`)).json().origin, origin('AABBCCDD', 'mod/lantern'))
  assert.deepEqual(
    (await t.anyone.get(`/v3/version/${version.id}`)).json().origin,
    origin('EEFFGGHH', 'mod/lantern/version/2.0.0'),
  )
  const other = await t.make.project()
  assert.ok(!('origin' in (await t.anyone.get(`/v3/project/${other.id}`)).json()))
  assert.ok(!('origin' in (await t.anyone.get(`/v2/project/${project.id}`)).json()))
  assert.ok(!('origin' in (await t.anyone.get(`/v2/version/${version.id}`)).json()))
  const page = await t.anyone.get(`/mod/${project.slug}`)
  assert.match(page.body, /Mirrored from <a href="https:\/\/source\.example\/mod\/lantern"/)
  assert.match(page.body, /Mira &lt;b&gt;/)
  const ofVersion = await t.anyone.get(`/mod/${project.slug}/version/2.0.0`)
  assert.match(ofVersion.body, /source\.example\/mod\/lantern\/version\/2\.0\.0/)
})

test('edits of the content are refused', async () => {
  const mine = t.as(owner)
  const image = await sharp({ create: { width: 8, height: 8, channels: 3, background: 'red' } })
    .png()
    .toBuffer()
  const binary = { headers: { 'content-type': 'image/png' }, query: { ext: 'png', featured: false } }
  const refused = async (answer: ReturnType<typeof mine.get>, field?: string) => {
    const { statusCode, body } = await answer
    assert.equal(statusCode, 400, body)
    assertError({ statusCode, body, json: () => JSON.parse(body) } as never, 400, 'invalid_input')
    assert.match(JSON.parse(body).description, /mirrored copy of https:\/\/source\.example/)
    if (field !== undefined) assert.equal(JSON.parse(body).details.field, field)
  }
  await refused(mine.patch(`/v3/project/${project.id}`, { name: 'Other' }), 'name')
  await refused(mine.patch(`/v3/project/${project.id}`, { status: 'archived', summary: 'Another summary' }), 'summary')
  await refused(mine.patch(`/v2/project/${project.id}`, { title: 'Other' }))
  await refused(
    mine.patch('/v3/projects', { add_categories: ['utility'] }, { query: { ids: JSON.stringify([project.id]) } }),
  )
  await refused(mine.patch(`/v3/project/${project.id}/icon`, image, binary))
  await refused(mine.post(`/v3/project/${project.id}/gallery`, image, binary))
  await refused(mine.patch(`/v3/version/${version.id}`, { changelog: 'Other' }), 'changelog')
  await refused(mine.delete(`/v3/version_file/${file.sha512}`, undefined, { query: { algorithm: 'sha512' } }))
  const after = (await t.anyone.get(`/v3/project/${project.id}`)).json()
  assert.deepEqual([after.name, after.gallery, after.icon_url], [`Project ${project.slug}`, [], null])
})

test('a new version and more files are refused', async () => {
  const form = (data: object) => ({
    payload:
      `--x\r\ncontent-disposition: form-data; name="data"\r\n\r\n${JSON.stringify(data)}\r\n` +
      '--x\r\ncontent-disposition: form-data; name="file"; filename="a.jar"\r\n\r\nbytes\r\n--x--\r\n',
    headers: { 'content-type': 'multipart/form-data; boundary=x' },
  })
  const { payload, headers } = form({
    project_id: project.id,
    name: 'New',
    version_number: '3.0.0',
    version_type: 'release',
    loaders: ['fabric'],
    game_versions: ['1.20.1'],
    file_parts: ['file'],
  })
  const answer = await t.as(owner).post('/v3/version', payload, { headers })
  assertError(answer, 400, 'invalid_input')
  assert.match(answer.json().description, /mirrored copy/)
})

test('the status can be changed, and the project can be deleted', async () => {
  const mine = t.as(owner)
  assert.equal((await mine.patch(`/v3/project/${project.id}`, { status: 'archived' })).statusCode, 204)
  assert.equal((await mine.patch(`/v3/version/${version.id}`, { status: 'unlisted' })).statusCode, 204)
  assert.equal((await t.anyone.get(`/v3/project/${project.id}`)).json().status, 'archived')
  assert.equal((await mine.delete(`/v3/project/${project.id}`)).statusCode, 204)
})
