// Files by their hashes: visibility, the selected version, and the effects of deleting a file.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, describe, test } from 'node:test'
import { ALL_SCOPES, parseScopeNames } from '#features/basics/access/scopes.ts'
import { testApp } from '#test/support/app/test-app.ts'
import type { MadeProject } from '#test/support/factories/factories.ts'

const t = await testApp()
after(() => t.close())
const stranger = await t.make.account()

const without = (scope: string) => ALL_SCOPES - parseScopeNames(scope).bits

type Made = {
  project: MadeProject
  version: { id: string }
  sha1: string
  sha512: string
  id: string
  storageKey: string
}

/** Publishes a version with one unique file. */
async function publish(
  fields: { project?: MadeProject; status?: string; projectStatus?: string; bytes?: Buffer; at?: number } = {},
): Promise<Made> {
  const project = fields.project ?? (await t.make.project({ status: fields.projectStatus ?? 'approved' }))
  const date_published = new Date(Date.UTC(2026, 0, fields.at ?? 1))
  const version = await t.make.version({ project, status: fields.status ?? 'listed', date_published })
  const file = await t.make.file({ version, project, bytes: fields.bytes ?? randomBytes(16) })
  return { project, version, ...file }
}

describe('one hash', () => {
  test('of either algorithm, in any case, is its version', async () => {
    const { version, sha1, sha512 } = await publish()
    for (const hash of [sha1, sha512, sha1.toUpperCase(), sha512.toUpperCase()]) {
      const answer = await t.anyone.get(`/v3/version_file/${hash}`)
      assert.equal(answer.statusCode, 200, answer.body)
      assert.equal(answer.json().id, version.id)
    }
    const named = await t.anyone.get(`/v3/version_file/${sha1}`, { query: { algorithm: 'sha1' } })
    assert.equal(named.json().id, version.id)
  })

  test('under the wrong algorithm, unknown or no hash at all is 404; an unknown algorithm 400', async () => {
    const { sha1, sha512 } = await publish()
    for (const [hash, query] of [
      [sha1, { algorithm: 'sha512' }],
      [sha512, { algorithm: 'sha1' }],
      ['0'.repeat(40), {}],
      ['no-hash', {}],
      ['f'.repeat(200), {}],
    ] as const)
      assert.equal((await t.anyone.get(`/v3/version_file/${hash}`, { query })).statusCode, 404, hash)
    for (const algorithm of ['md5', 'SHA1', '']) {
      const answer = await t.anyone.get(`/v3/version_file/${sha1}`, { query: { algorithm } })
      assert.deepEqual(
        [answer.statusCode, answer.json().error, answer.json().details.field],
        [400, 'invalid_input', 'algorithm'],
      )
    }
  })

  test('on several versions is the one published last, or the one that version_id names', async () => {
    const bytes = randomBytes(16)
    const older = await publish({ bytes, at: 1 })
    const newer = await publish({ bytes, at: 3, project: older.project })
    await publish({ bytes, at: 2, project: older.project })
    const path = `/v3/version_file/${older.sha1}`
    assert.equal((await t.anyone.get(path)).json().id, newer.version.id)
    const chosen = await t.anyone.get(path, { query: { version_id: older.version.id } })
    assert.equal(chosen.json().id, older.version.id)
    const other = await publish()
    assert.equal((await t.anyone.get(path, { query: { version_id: other.version.id } })).statusCode, 404)
    const bad = await t.anyone.get(path, { query: { version_id: 'no-id!' } })
    assert.deepEqual([bad.statusCode, bad.json().error], [400, 'decoding_error'])
  })

  test('skips hidden versions before the selection', async () => {
    const bytes = randomBytes(16)
    const shown = await publish({ bytes, at: 1 })
    const draft = await publish({ bytes, at: 2, project: shown.project, status: 'draft' })
    const path = `/v3/version_file/${shown.sha512}`
    assert.equal((await t.anyone.get(path)).json().id, shown.version.id)
    assert.equal((await t.as(stranger).get(path)).json().id, shown.version.id)
    assert.equal((await t.as(shown.project.owner).get(path)).json().id, draft.version.id)
    const moderator = await t.make.account({ role: 'moderator' })
    assert.equal((await t.as(moderator).get(path)).json().id, draft.version.id)
  })

  test('unlisted versions are found; drafts and versions of hidden projects by members only', async () => {
    const unlisted = await publish({ status: 'unlisted' })
    assert.equal((await t.anyone.get(`/v3/version_file/${unlisted.sha1}`)).statusCode, 200)
    for (const hidden of [await publish({ status: 'draft' }), await publish({ projectStatus: 'private' })]) {
      const path = `/v3/version_file/${hidden.sha1}`
      assert.equal((await t.anyone.get(path)).statusCode, 404)
      assert.equal((await t.as(stranger).get(path)).statusCode, 404)
      assert.equal((await t.as(hidden.project.owner).get(path)).statusCode, 200)
      const weak = await t.make.pat(hidden.project.owner, without('VERSION_READ'))
      assert.equal((await t.as(weak).get(path)).statusCode, 404, 'a token without VERSION_READ reads as anybody')
    }
  })

  test('download redirects to the address of the file, which counts', async () => {
    const { version, sha1, project } = await publish()
    const answer = await t.anyone.get(`/v3/version_file/${sha1}/download`)
    assert.equal(answer.statusCode, 307)
    const url = `https://depot.test/data/${project.id}/versions/${version.id}/test.jar`
    assert.deepEqual([answer.headers['location'], answer.json()], [url, { url }])
    assert.equal((await t.anyone.get(new URL(url).pathname)).statusCode, 200)
    const hidden = await publish({ status: 'draft' })
    assert.equal((await t.anyone.get(`/v3/version_file/${hidden.sha1}/download`)).statusCode, 404)
  })
})

describe('many hashes', () => {
  for (const [path, idOf] of [
    ['/v3/version_files', (made: Made) => made.version.id],
    ['/v3/version_file/project', (made: Made) => made.project.id],
  ] as const) {
    test(`${path} answers by the hash as it was sent, and leaves out what is unknown or hidden`, async () => {
      const a = await publish()
      const b = await publish()
      const hidden = await publish({ projectStatus: 'draft' })
      const hashes = [a.sha1, b.sha512.toUpperCase(), hidden.sha1, '0'.repeat(40), a.sha1]
      const expected = { [a.sha1]: idOf(a), [b.sha512.toUpperCase()]: idOf(b) }
      const idsOf = (body: Record<string, { id: string }>) =>
        Object.fromEntries(Object.entries(body).map(([hash, { id }]) => [hash, id]))
      const posted = await t.anyone.post(path, { hashes })
      assert.equal(posted.statusCode, 200, posted.body)
      assert.deepEqual(idsOf(posted.json()), expected)
      const got = await t.anyone.get(path, { query: { hashes: JSON.stringify(hashes) } })
      assert.equal(got.statusCode, 200, got.body)
      assert.deepEqual(idsOf(got.json()), expected)
      const etag = String(got.headers['etag'])
      const ask = (asked: string[]) =>
        t.anyone.get(path, { query: { hashes: JSON.stringify(asked) }, headers: { 'if-none-match': etag } })
      assert.equal((await ask(hashes)).statusCode, 304)
      // Another name for the same file is another answer.
      assert.equal((await ask([a.sha1, b.sha512])).statusCode, 200)
      const member = await t.as(hidden.project.owner).post(path, { hashes })
      assert.equal(member.json()[hidden.sha1].id, idOf(hidden))
    })

    test(`${path} accepts 0 and 1000 hashes, and rejects invalid ones`, async () => {
      const many = Array.from({ length: 1000 }, (_, i) => i.toString(16).padStart(40, '0'))
      assert.deepEqual((await t.anyone.post(path, { hashes: many })).json(), {})
      assert.deepEqual((await t.anyone.post(path, { hashes: [] })).json(), {})
      const cases: [unknown, string, string][] = [
        [{ hashes: [...many, 'f'.repeat(40)] }, 'validation_error', 'hashes'],
        [{ hashes: ['f'.repeat(129)] }, 'validation_error', 'hashes.0'],
        [{ hashes: [1] }, 'validation_error', 'hashes.0'],
        [{ hashes: 'f' }, 'validation_error', 'hashes'],
        [{}, 'validation_error', 'hashes'],
        [{ hashes: [], algorithm: 'md5' }, 'validation_error', 'algorithm'],
      ]
      for (const [body, error, field] of cases) {
        const answer = await t.anyone.post(path, body)
        assert.deepEqual(
          [answer.statusCode, answer.json().error, answer.json().details?.field],
          [400, error, field],
          answer.body,
        )
      }
      for (const query of [{}, { hashes: 'x' }, { hashes: '{}' }, { hashes: '["\\u0000"]' }] as Record<
        string,
        string
      >[]) {
        const answer = await t.anyone.get(path, { query })
        assert.deepEqual([answer.statusCode, answer.json().error], [400, 'invalid_input'], answer.body)
      }
    })
  }

  test('cost two queries when cold and none when warm, for two as for fifty', async () => {
    for (const count of [2, 50]) {
      const hashes = (await Promise.all(Array.from({ length: count }, () => publish()))).map(({ sha1 }) => sha1)
      const cold = await t.queriesOf(() => t.anyone.post('/v3/version_files', { hashes }))
      assert.equal(Object.keys(cold.result.json()).length, count)
      assert.equal(cold.queries.length, 2, cold.queries.join('\n'))
      const warm = await t.queriesOf(() => t.anyone.post('/v3/version_files', { hashes }))
      assert.equal(warm.queries.length, 0)
    }
  })
})

describe('deleting a file', () => {
  /** A version with three files; the last is an attachment that comes first by name. */
  async function withFiles() {
    const made = await publish()
    const other = await t.make.file({ ...made, bytes: randomBytes(16), filename: 'zz-other.jar', primary: false })
    const attached = await t.make.file({ ...made, bytes: randomBytes(16), filename: 'a.asc', primary: false })
    await t.deps.db.updateTable('file').set({ file_type: 'signature' }).where('id', '=', attached.id).execute()
    return { ...made, other, attached }
  }
  const filesOf = async (made: Made): Promise<[string, boolean][]> =>
    (await t.as(made.project.owner).get(`/v3/version/${made.version.id}`))
      .json()
      .files.map((file: { filename: string; primary: boolean }) => [file.filename, file.primary])

  test('that is primary makes the next one primary; a warm reader sees it immediately, and the file is deleted', async () => {
    const made = await withFiles()
    assert.equal((await filesOf(made)).length, 3)
    const before = (await t.anyone.get(`/v3/project/${made.project.id}`)).json().updated
    t.advance(1000)
    const answer = await t.as(made.project.owner).delete(`/v3/version_file/${made.sha1}`)
    assert.equal(answer.statusCode, 204, answer.body)
    assert.deepEqual(await filesOf(made), [
      ['zz-other.jar', true],
      ['a.asc', false],
    ])
    assert.ok((await t.anyone.get(`/v3/project/${made.project.id}`)).json().updated > before)
    assert.equal((await t.anyone.get(`/v3/version_file/${made.sha1}`)).statusCode, 404)
    await t.runJobs()
    assert.equal(await t.deps.files.stat(made.storageKey), undefined)
    assert.notEqual(await t.deps.files.stat(made.other.storageKey), undefined)
    const claim = await t.deps.db.selectFrom('file_content').selectAll().where('sha512', '=', made.sha512).execute()
    assert.deepEqual(claim, [], 'the bytes are free for other projects')
  })

  test('that is an attachment leaves the primary one', async () => {
    const made = await withFiles()
    assert.equal((await t.as(made.project.owner).delete(`/v3/version_file/${made.attached.sha512}`)).statusCode, 204)
    assert.deepEqual(await filesOf(made), [
      ['test.jar', true],
      ['zz-other.jar', false],
    ])
  })

  test('that is the only one is rejected', async () => {
    const made = await publish()
    const answer = await t.as(made.project.owner).delete(`/v3/version_file/${made.sha1}`)
    assert.deepEqual([answer.statusCode, answer.json().error], [400, 'invalid_input'])
    assert.equal((await filesOf(made)).length, 1)
  })

  test('of two requested concurrently leaves one', async () => {
    const made = await publish()
    const other = await t.make.file({ ...made, bytes: randomBytes(16), filename: 'other.jar', primary: false })
    const owner = t.as(made.project.owner)
    const answers = await Promise.all([made, other].map(({ sha1 }) => owner.delete(`/v3/version_file/${sha1}`)))
    assert.deepEqual(answers.map(({ statusCode }) => statusCode).sort(), [204, 400])
    assert.deepEqual(
      (await filesOf(made)).map(([, primary]) => primary),
      [true],
    )
  })

  test('keeps bytes claimed that another version of the project holds', async () => {
    const bytes = randomBytes(16)
    const first = await publish({ bytes, at: 1 })
    await t.make.file({ ...first, bytes: randomBytes(16), filename: 'other.jar', primary: false })
    await publish({ bytes, at: 2, project: first.project })
    const query = { version_id: first.version.id }
    assert.equal(
      (await t.as(first.project.owner).delete(`/v3/version_file/${first.sha1}`, undefined, { query })).statusCode,
      204,
    )
    const claim = await t.deps.db.selectFrom('file_content').selectAll().where('sha512', '=', first.sha512).execute()
    assert.equal(claim.length, 1)
  })

  test('wants a token, its scope and its permission; hidden is absent', async () => {
    const made = await withFiles()
    const path = `/v3/version_file/${made.sha1}`
    const weak = await t.make.pat(made.project.owner, without('VERSION_WRITE'))
    const member = await t.make.account()
    await t.make.member({ teamId: made.project.teamId, accountId: member.id, permissions: 1023 & ~2 })
    assert.equal((await t.anyone.delete(path)).statusCode, 401)
    const scopeless = await t.as(weak).delete(path)
    assert.equal(scopeless.statusCode, 403)
    assert.match(scopeless.json().description, /VERSION_WRITE/)
    assert.equal((await t.as(stranger).delete(path)).statusCode, 403)
    const refused = await t.as(member).delete(path)
    assert.equal(refused.statusCode, 403)
    assert.match(refused.json().description, /DELETE_VERSION/)
    const hidden = await publish({ projectStatus: 'draft' })
    assert.equal((await t.as(stranger).delete(`/v3/version_file/${hidden.sha1}`)).statusCode, 404)
    assert.equal((await t.as(stranger).delete(`/v3/version_file/${'0'.repeat(40)}`)).statusCode, 404)
  })
})
