// Publishing a version again, and unknown keys in its description.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { MINUTE_MS } from '#lib/time.ts'
import { testApp } from '#test/support/app/test-app.ts'
import { assertError, statuses } from '#test/support/http/account-steps.ts'
import { form, modJar, projectData, versionData } from '#test/support/http/forms.ts'

const t = await testApp()
after(() => t.close())
const project = await t.make.project()

async function publish(fields: Record<string, unknown>, salt: string, filename = 'a.jar') {
  const data = { project_id: project.id, ...versionData(fields) }
  const { payload, headers } = await form(data, [{ name: 'file', filename, bytes: modJar(salt) }])
  return t.as(project.owner).post('/v3/version', payload, { headers })
}

test('the same number with the same bytes is rejected with the version that has them', async () => {
  const first = (await publish({ version_number: '3.0.0' }, 'same')).json()
  const again = await publish({ version_number: '3.0.0', version_title: 'Another title' }, 'same')
  assertError(again, 409, 'conflict', 'version_number')
  assert.equal(again.json().details.version_id, first.id)
  assert.equal((await publish({ version_number: '3.0.0' }, 'other bytes')).statusCode, 201)
  assert.equal((await publish({ version_number: '3.0.1' }, 'same')).statusCode, 201)
})

test('of parallel uploads of one version a single one succeeds', async () => {
  const answers = await Promise.all([1, 2, 3].map(() => publish({ version_number: '4.0.0' }, 'parallel')))
  assert.deepEqual(statuses(answers), [201, 409, 409])
})

test('primary_file and file_types must name parts of the form', async () => {
  assertError(await publish({ primary_file: 'elsewhere' }, 'p'), 400, 'validation_error', 'primary_file')
  const unknown = { file_types: { elsewhere: 'sources-jar' } }
  assertError(await publish(unknown, 'p'), 400, 'validation_error', 'file_types.elsewhere')
  assert.equal((await publish({ primary_file: 'file', version_number: '5.0.0' }, 'p')).statusCode, 201)
  for (const [fields, field] of [
    [{ primary_file: 'elsewhere' }, 'initial_versions.0.primary_file'],
    [unknown, 'initial_versions.0.file_types.elsewhere'],
  ] as const) {
    const data = projectData('names-nothing', { initial_versions: [versionData(fields)] })
    const { payload, headers } = await form(data, [{ name: 'file', filename: 'a.jar', bytes: modJar('q') }])
    const answer = await t.as(project.owner).post('/v3/project', payload, { headers })
    assertError(answer, 400, 'validation_error', field)
  }
})

test('a key of file_types names the part with that name, otherwise the file', async () => {
  const bytes = ['one', 'two', 'three'].map((text) => modJar(`named ${text}`))
  const files = ['a.jar', 'b.jar', 'c.jar'].map((filename, n) => ({
    name: ['b.jar', 'second', 'third'][n] ?? '',
    filename,
    bytes: bytes[n] ?? Buffer.alloc(0),
  }))
  const file_types = { 'b.jar': 'sources-jar', 'c.jar': 'dev-jar' }
  const typesOf = async (path: string, data: object): Promise<object> => {
    const { payload, headers } = await form(data, files)
    const answer = await t.as(project.owner).post(path, payload, { headers })
    assert.ok(answer.statusCode < 300, answer.body)
    const { id } = answer.statusCode === 204 ? { id: path.split('/')[3] } : answer.json()
    const { files: stored } = (await t.as(project.owner).get(`/v3/version/${id}`)).json()
    return Object.fromEntries(
      stored.map((file: { filename: string; file_type: string | null }) => [file.filename, file.file_type]),
    )
  }
  const wanted = { 'a.jar': 'sources-jar', 'b.jar': null, 'c.jar': 'dev-jar' }
  const file_parts = files.map(({ name }) => name)
  const data = versionData({ version_number: '6.0.0', file_types, file_parts })
  assert.deepEqual(await typesOf('/v3/version', { project_id: project.id, ...data }), wanted)
  const { id } = (await publish({ version_number: '6.0.1' }, 'base', 'base.jar')).json()
  assert.deepEqual(await typesOf(`/v3/version/${id}/file`, { file_types }), { ...wanted, 'base.jar': null })
})

test('messages say what is needed', async () => {
  const bad = await publish({ version_number: 'no spaces' }, 'm')
  assert.match(bad.json().details.message, /letters A-Z, digits or any of ! @/)
  for (const [field, value, route] of [
    ['loaders', ['no-loader'], /GET \/v3\/tag\/loader lists them/],
    ['game_versions', ['0.0'], /GET \/v3\/loader_field\?loader_field=game_versions lists them/],
  ] as const) {
    const unknown = await publish({ version_number: '9.9.9', [field]: value }, 'm')
    assert.match(unknown.json().details.message, route)
  }
  const category = await t.as(project.owner).patch(`/v3/project/${project.id}`, { categories: ['no-category'] })
  assert.match(category.json().details.message, /GET \/v3\/tag\/category lists them/)
  const dated = await t.as(project.owner).post('/_internal/pat', { name: 'For builds', scopes: 2, expires: 'tomorrow' })
  assert.match(dated.json().details.message, /such as 2026-01-31T18:30:00Z/)
  const path = `/v3/user/${project.owner.id}/icon?ext=png`
  const { payload, headers } = await form(undefined, [{ name: 'icon', filename: 'a.png', bytes: modJar('icon') }])
  const picture = await t.as(project.owner).patch(path, payload, { headers })
  assertError(picture, 400, 'invalid_input')
  assert.match(picture.json().description, /Send the image itself as the body, not a form/)
})

test("the notification contains the moderator's message", async () => {
  const waiting = await t.make.project({ status: 'processing' })
  const moderator = await t.make.account({ role: 'moderator' })
  const change = { status: 'rejected', moderation_message: 'The licence is missing.' }
  assert.equal((await t.as(moderator).patch(`/v3/project/${waiting.id}`, change)).statusCode, 204)
  // Members are notified when the decision can no longer be undone.
  t.advance(5 * MINUTE_MS)
  await t.runJob('decisions.announce')
  const list = (await t.as(waiting.owner).get(`/v3/user/${waiting.owner.id}/notifications`)).json()
  const texts = list.map(({ text }: { text: string }) => text).join('|')
  assert.match(texts, /to rejected\. They wrote: The licence is missing\./)
})
