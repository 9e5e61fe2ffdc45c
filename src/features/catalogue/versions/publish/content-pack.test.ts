// Publishing a pack, whose content becomes dependencies.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, describe, test } from 'node:test'
import { testApp } from '#test/support/app/test-app.ts'
import { makeZip } from '#test/support/factories/archives.ts'
import { assertError } from '#test/support/http/account-steps.ts'
import { type FormFile, form, versionData } from '#test/support/http/forms.ts'

const t = await testApp()
after(() => t.close())
const project = await t.make.project()

async function publish(fields: Record<string, unknown>, files: FormFile[]) {
  const { payload, headers } = await form({ project_id: project.id, ...versionData(fields) }, files)
  return t.as(project.owner).post('/v3/version', payload, { headers })
}

describe('publishing a content pack', () => {
  const hashesOf = (text: string) => ({
    sha1: createHash('sha1').update(text).digest('hex'),
    sha512: createHash('sha512').update(text).digest('hex'),
  })
  const packed = (text: string, name: string) => ({
    path: `mods/${text}.jar`,
    hashes: hashesOf(text),
    downloads: [`https://github.com/x/${name}`],
    fileSize: 1,
  })

  async function publishPack(salt: string, fields: object = {}) {
    const index = {
      game: 'minecraft',
      formatVersion: 1,
      versionId: salt,
      name: 'A pack',
      files: [packed('pack-known', 'a.jar'), packed('pack-hidden', 'b.jar'), packed('pack-unknown', 'c%00%2Fd.jar')],
      dependencies: { minecraft: '1.20.1' },
    }
    const entries = [
      { name: 'modrinth.index.json', data: JSON.stringify(index) },
      { name: 'overrides/mods/e.jar', data: 'inside' },
    ]
    return publish({ loaders: ['mrpack'], mrpack_loaders: ['fabric'], ...fields }, [
      { name: 'file', filename: 'pack.mrpack', bytes: makeZip(entries) },
    ])
  }

  test('its content becomes dependencies: versions for public files, otherwise names', async () => {
    const known = await t.make.project()
    const version = await t.make.version({ project: known })
    await t.make.file({ project: known, version, bytes: Buffer.from('pack-known') })
    const draft = await t.make.version({ project: known, status: 'draft' })
    await t.make.file({ project: known, version: draft, bytes: Buffer.from('pack-hidden') })
    const answer = await publishPack('1')
    assert.equal(answer.statusCode, 201, answer.body)
    const embedded = { version_id: null, project_id: null, dependency_type: 'embedded' }
    assert.deepEqual(answer.json().dependencies, [
      { ...embedded, version_id: version.id, project_id: known.id, file_name: null },
      { ...embedded, file_name: 'b.jar' },
      { ...embedded, file_name: 'd.jar' },
      { ...embedded, file_name: 'e.jar' },
    ])
  })

  test('its loaders are those of its index, and others are refused', async () => {
    const bytesFor = (salt: string, loaders: object) => {
      const dependencies = { minecraft: '1.20.1', ...loaders }
      const index = { game: 'minecraft', formatVersion: 1, versionId: salt, name: 'A pack', files: [], dependencies }
      const entries = [
        { name: 'modrinth.index.json', data: JSON.stringify(index) },
        { name: 'overrides/options.txt', data: salt },
      ]
      return [{ name: 'file', filename: 'pack.mrpack', bytes: makeZip(entries) }]
    }
    const quilt = { 'quilt-loader': '0.26.0' }
    const answer = await publish({ loaders: ['mrpack'] }, bytesFor('alone', quilt))
    assert.equal(answer.statusCode, 201, answer.body)
    assert.deepEqual(answer.json().mrpack_loaders, ['quilt'])
    const listed = await publish({ loaders: ['mrpack'], mrpack_loaders: ['fabric'] }, bytesFor('vanilla', {}))
    assert.deepEqual(listed.json().mrpack_loaders, ['fabric'])
    const wrong = await publish({ loaders: ['mrpack'], mrpack_loaders: ['fabric'] }, bytesFor('wrong', quilt))
    assertError(wrong, 400, 'validation_error', 'mrpack_loaders')
    const { id } = answer.json()
    const edit = await t.as(project.owner).patch(`/v3/version/${id}`, { mrpack_loaders: ['forge'] })
    assertError(edit, 400, 'validation_error', 'mrpack_loaders')
    assert.equal((await t.as(project.owner).patch(`/v3/version/${id}`, { mrpack_loaders: ['quilt'] })).statusCode, 204)
    const draft = await publish({ loaders: ['mrpack'], status: 'draft' }, bytesFor('draft', quilt))
    const shown = `/v3/version/${draft.json().id}`
    const refused = { status: 'listed', mrpack_loaders: ['forge'] }
    assertError(await t.as(project.owner).patch(shown, refused), 400, 'validation_error', 'mrpack_loaders')
    assert.equal((await t.as(project.owner).patch(shown, { status: 'listed' })).statusCode, 204)
    assert.deepEqual((await t.anyone.get(shown)).json().mrpack_loaders, ['quilt'])
  })

  test('dependencies that its publisher names stand alone', async () => {
    const other = await t.make.project()
    const answer = await publishPack('2', { dependencies: [{ project_id: other.id, dependency_type: 'required' }] })
    assert.deepEqual(answer.json().dependencies, [
      { version_id: null, project_id: other.id, file_name: null, dependency_type: 'required' },
    ])
  })
})
