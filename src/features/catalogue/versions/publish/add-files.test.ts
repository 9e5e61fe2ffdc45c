// Adding files to a version.
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { sql } from 'kysely'
import { testApp } from '#test/support/app/test-app.ts'
import { form, modJar, versionData } from '#test/support/http/forms.ts'

const t = await testApp()
after(() => t.close())
const project = await t.make.project()

async function publish(bytes: Buffer): Promise<{ id: string }> {
  const { payload, headers } = await form({ project_id: project.id, ...versionData() }, [{ name: 'file', bytes }])
  return (await t.as(project.owner).post('/v3/version', payload, { headers })).json()
}

describe('adding files', () => {
  test('is 204; added files are not primary and can come without data', async () => {
    const made = await publish(modJar('base'))
    const { payload, headers } = await form(undefined, [
      { name: 'sources', filename: 'sources.jar', bytes: modJar('extra') },
    ])
    const path = `/v3/version/${made.id}/file`
    assert.equal((await t.as(project.owner).post(path, payload, { headers })).statusCode, 204)
    const typed = await form({ file_types: { dev: 'dev-jar' } }, [
      { name: 'dev', filename: 'dev.jar', bytes: modJar('extra dev') },
    ])
    assert.equal((await t.as(project.owner).post(path, typed.payload, { headers: typed.headers })).statusCode, 204)
    const files = (await t.anyone.get(`/v3/version/${made.id}`)).json().files as {
      filename: string
      primary: boolean
      file_type: string | null
    }[]
    assert.deepEqual(
      files.map(({ filename, primary, file_type }) => [filename, primary, file_type]),
      [
        ['file.jar', true, null],
        ['dev.jar', false, 'dev-jar'],
        ['sources.jar', false, null],
      ],
    )
    const again = await t.as(project.owner).post(path, payload, { headers })
    assert.equal(again.statusCode, 400, 'the name is taken')
    assert.equal((await t.anyone.post(path, payload, { headers })).statusCode, 401)
    const stranger = await t.make.account()
    assert.equal((await t.as(stranger).post(path, payload, { headers })).statusCode, 403)
    assert.equal((await t.as(project.owner).post('/v3/version/AAAAAAAA/file', payload, { headers })).statusCode, 404)
    assert.equal(
      (await t.as(project.owner).post('/v3/version/not-base62/file', payload, { headers })).json().error,
      'decoding_error',
    )
    const empty = await form({ file_types: {} })
    assert.equal((await t.as(project.owner).post(path, empty.payload, { headers: empty.headers })).statusCode, 400)
    const wrong = await form({ file_types: { x: 'nonsense' } }, [{ name: 'x', bytes: modJar('x9') }])
    assert.equal(
      (await t.as(project.owner).post(path, wrong.payload, { headers: wrong.headers })).json().error,
      'validation_error',
    )
  })

  test('a version has 256 files at most, however they came', async () => {
    const made = await publish(modJar('first of many'))
    await sql`insert into file (id, version_id, filename, size_bytes, sha1, sha512, content_type, storage_key)
      select random_id(), ${made.id}, i || '.jar', 1, 'many-' || i, 'many-' || i, 'application/java-archive', 'many-' || i
      from generate_series(1, 254) i`.execute(t.deps.db)
    const add = async (name: string) => {
      const { payload, headers } = await form(undefined, [{ name, bytes: modJar(name) }])
      return t.as(project.owner).post(`/v3/version/${made.id}/file`, payload, { headers })
    }
    const [one, other] = await Promise.all([add('last'), add('last-as-well')])
    assert.deepEqual([one.statusCode, other.statusCode].sort(), [204, 400])
    assert.match((one.statusCode === 400 ? one : other).json().description, /256 files/)
  })
})
