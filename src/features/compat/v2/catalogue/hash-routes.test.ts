import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { testApp } from '#test/support/app/test-app.ts'

const t = await testApp()
after(() => t.close())

const at = (day: number) => new Date(Date.UTC(2026, 0, day))

async function installed(salt: string, status?: string) {
  const project = await t.make.project(status === undefined ? {} : { status })
  const first = await t.make.version({ project, date_published: at(1) })
  const next = await t.make.version({ project, date_published: at(2), loaders: ['quilt'], game_versions: ['1.20.4'] })
  const file = await t.make.file({ version: first, project, bytes: Buffer.from(`bytes ${salt}`) })
  return { project, first, next, file }
}
async function read(path: string) {
  const answer = await t.anyone.get(path)
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json()
}
async function ask(path: string, body: object) {
  const answer = await t.anyone.post(path, body)
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json()
}

test('finds a version by either hash algorithm, quoted or not, whatever the other parameters', async () => {
  const { project, first, file } = await installed('lookup')
  const version = await read(`/v2/version/${first.id}`)
  for (const path of [
    file.sha1,
    file.sha1.toUpperCase(),
    file.sha512,
    `${file.sha1}?algorithm=sha1&multiple=false`,
    `${file.sha1}?algorithm=%22sha1%22`,
    `${file.sha512}?algorithm=sha512&version_id=${first.id}`,
    `${file.sha1}?algorithm=`,
  ])
    assert.deepEqual(await read(`/v2/version_file/${path}`), version, path)
  const download = await t.anyone.get(`/v2/version_file/${file.sha1}/download`)
  const url = `https://depot.test/data/${project.id}/versions/${first.id}/test.jar`
  assert.deepEqual([download.statusCode, download.headers['location'], download.json()], [307, url, { url }])
  const wrong = await t.anyone.get(`/v2/version_file/${file.sha1}?algorithm=md5`)
  assert.deepEqual([wrong.statusCode, wrong.json().details.field], [400, 'algorithm'])
  for (const path of [file.sha1, `${file.sha1}/download`]) {
    const odd = await t.anyone.get(`/v2/version_file/${path}?version_id=no-id!`)
    assert.deepEqual([odd.statusCode, odd.json().details.field], [400, 'version_id'], path)
  }
  const absent = await t.anyone.get(`/v2/version_file/${file.sha1}?algorithm=sha512`)
  assert.deepEqual([absent.statusCode, absent.body], [404, ''])
})

test('finds versions and projects by many hashes, keyed by hash, without hidden ones', async () => {
  const { project, first, file } = await installed('many')
  const hidden = await installed('hidden', 'draft')
  const hashes = [file.sha1.toUpperCase(), hidden.file.sha1, 'f'.repeat(40)]
  const key = file.sha1.toUpperCase()
  const version = await read(`/v2/version/${first.id}`)
  assert.deepEqual(await ask('/v2/version_files', { hashes, algorithm: 'sha1', more: true }), { [key]: version })
  assert.deepEqual(await ask('/v2/version_files', { hashes: [file.sha512], algorithm: null }), {
    [file.sha512]: version,
  })
  assert.deepEqual(await ask('/v2/version_file/project', { hashes }), {
    [key]: await read(`/v2/project/${project.id}`),
  })
  const owner = await t.as(hidden.project.owner).post('/v2/version_files', { hashes })
  assert.deepEqual(Object.keys(owner.json()).sort(), [key, hidden.file.sha1].sort())
})

test('an update is the first version of the list under the filter; null and empty lists do not filter', async () => {
  const { first, next, file } = await installed('update')
  const update = async (body: object) => (await ask(`/v2/version_file/${file.sha1}/update?algorithm="sha1"`, body)).id
  assert.equal(await update({}), next.id)
  assert.equal(await update({ loaders: null, game_versions: null, version_types: null }), next.id)
  assert.equal(await update({ loaders: [], game_versions: [], version_types: [] }), next.id)
  assert.equal(await update({ loaders: ['fabric'] }), first.id)
  assert.equal(await update({ loaders: ['fabric', 'quilt'], game_versions: ['1.20.1'] }), first.id)
  const none = await t.anyone.post(`/v2/version_file/${file.sha1}/update`, { loaders: ['rift'] })
  assert.deepEqual([none.statusCode, none.body], [404, ''])
  const shown = await read(`/v2/version/${first.id}`)
  const filter = { loaders: ['fabric'], game_versions: ['1.20.1'] }
  const hashes = [file.sha1]
  assert.deepEqual(await ask('/v2/version_files/update', { hashes, ...filter }), { [file.sha1]: shown })
  assert.deepEqual(await ask('/v2/version_files/update_many', { hashes, ...filter }), { [file.sha1]: [shown] })
  assert.deepEqual(await ask('/v2/version_files/update_individual', { hashes: [{ hash: file.sha1, ...filter }] }), {
    [file.sha1]: shown,
  })
})

test('bulk answers say what those of the v3 API say, at the same cost', async () => {
  const made = await Promise.all([1, 2, 3].map((number) => installed(`same ${number}`)))
  const body = { hashes: made.map(({ file }) => file.sha1), loaders: ['quilt'] }
  for (const path of ['version_files', 'version_files/update']) {
    const [newer, older] = [await ask(`/v3/${path}`, body), await ask(`/v2/${path}`, body)]
    const idsOf = (answer: Record<string, { id: string }>) =>
      Object.entries(answer).map(([hash, { id }]) => `${hash} ${id}`)
    assert.deepEqual(idsOf(older), idsOf(newer))
    const cost = async (version: string) =>
      (await t.queriesOf(() => t.anyone.post(`/${version}/${path}`, body))).queries.length
    assert.equal(await cost('v2'), await cost('v3'), path)
  }
})

test('names too many hashes and invalid bodies in the error', async () => {
  for (const path of ['/v2/version_files', '/v2/version_file/project', '/v2/version_files/update']) {
    const hashes = Array.from({ length: 1001 }, (_, index) => index.toString(16).padStart(40, '0'))
    const many = await t.anyone.post(path, { hashes })
    assert.deepEqual([many.statusCode, many.json().details.field], [400, 'hashes'], path)
    const none = await t.anyone.post(path, {})
    assert.deepEqual([none.statusCode, none.json().details.field], [400, 'hashes'], path)
    assert.deepEqual(await ask(path, { hashes: [] }), {})
  }
  const wrong = await t.anyone.post('/v2/version_files/update', { hashes: [], version_types: ['final'] })
  assert.equal(wrong.statusCode, 400)
})
