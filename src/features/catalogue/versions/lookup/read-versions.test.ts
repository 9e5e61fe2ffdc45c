// Reading versions: visibility, the list of a project with its filters and order, and the cost of a read.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { VERSION_STATUSES } from '#features/basics/access/version-status.ts'
import { testApp } from '#test/support/app/test-app.ts'
import type { MadeProject } from '#test/support/factories/factories.ts'

const t = await testApp()
after(() => t.close())
const stranger = await t.make.account()
const moderator = await t.make.account({ role: 'moderator' })

const at = (day: number) => new Date(Date.UTC(2026, 0, day))
type Version = { id: string }
const ids = (answer: { json(): Version[] }) => answer.json().map(({ id }) => id)

describe('by status', () => {
  for (const status of VERSION_STATUSES) {
    for (const projectStatus of ['approved', 'unlisted', 'draft']) {
      const isPublic = ['listed', 'archived', 'unlisted'].includes(status) && projectStatus !== 'draft'
      test(`${status} in a project that is ${projectStatus}: ${isPublic ? 'anyone' : 'members and moderators'}`, async () => {
        const project = await t.make.project({ status: projectStatus })
        const version = await t.make.version({ project, status })
        const path = `/v3/version/${version.id}`
        for (const [client, expected] of [
          [t.anyone, isPublic],
          [t.as(stranger), isPublic],
          [t.as(project.owner), true],
          [t.as(moderator), true],
        ] as const) {
          assert.equal((await client.get(path)).statusCode, expected ? 200 : 404)
          assert.equal(
            (await client.get('/v3/versions', { query: { ids: JSON.stringify([version.id]) } })).json().length,
            expected ? 1 : 0,
          )
        }
        const invited = await t.make.account()
        await t.make.member({ teamId: project.teamId, accountId: invited.id, accepted: false })
        const forInvitee = ['listed', 'archived', 'unlisted'].includes(status)
        assert.equal(
          (await t.as(invited).get(path)).statusCode,
          forInvitee ? 200 : 404,
          'an invitee holds no permission',
        )
        const inList = ids(await t.as(project.owner).get(`/v3/project/${project.id}/version`)).includes(version.id)
        assert.equal(inList, ['listed', 'archived'].includes(status), 'lists take listed and archived, for members too')
      })
    }
  }
})

test('an invalid ID is decoding_error, an unknown one 404', async () => {
  for (const path of ['/v3/version/not-base62', '/v3/version/abcdefghijkl']) {
    const answer = await t.anyone.get(path)
    assert.equal(answer.statusCode, 400)
    assert.equal(answer.json().error, 'decoding_error')
  }
  assert.equal((await t.anyone.get('/v3/version/AAAAAAAA')).statusCode, 404)
  assert.equal((await t.anyone.get('/v3/versions', { query: { ids: '["no-id!"]' } })).json().error, 'decoding_error')
})

test('include_changelog=false leaves the key out, in lists by ID and of a project', async () => {
  const project = await t.make.project()
  const version = await t.make.version({ project, changelog: 'Ünïcode "changes"' })
  const query = { ids: JSON.stringify([version.id]) }
  assert.equal((await t.anyone.get('/v3/versions', { query })).json()[0].changelog, 'Ünïcode "changes"')
  assert.ok(
    !('changelog' in (await t.anyone.get('/v3/versions', { query: { ...query, include_changelog: false } })).json()[0]),
  )
  const list = `/v3/project/${project.id}/version`
  assert.ok('changelog' in (await t.anyone.get(list)).json()[0])
  assert.ok(!('changelog' in (await t.anyone.get(list, { query: { include_changelog: 'false' } })).json()[0]))
  assert.equal((await t.anyone.get(list, { query: { include_changelog: 'maybe' } })).statusCode, 400)
})

describe('the list of a project', () => {
  let project: MadeProject
  const made: Record<string, string> = {}
  before(async () => {
    project = await t.make.project()
    const add = async (name: string, fields: Omit<Parameters<typeof t.make.version>[0], 'project'>) => {
      made[name] = (await t.make.version({ project, ...fields })).id
    }
    await add('old fabric', { date_published: at(1), loaders: ['fabric'], game_versions: ['1.19'] })
    await add('forge beta', {
      date_published: at(2),
      loaders: ['forge'],
      game_versions: ['1.20.1'],
      version_type: 'beta',
    })
    await add('both', { date_published: at(3), loaders: ['fabric', 'forge'], game_versions: ['1.20.1', '1.20.2'] })
    await add('featured', { date_published: at(4), loaders: ['quilt'], game_versions: ['1.21'], featured: true })
  })
  const names = async (query: Record<string, string | number | boolean>) =>
    ids(await t.anyone.get(`/v3/project/${project.slug}/version`, { query })).map((id) =>
      Object.keys(made).find((name) => made[name] === id),
    )

  test('is newest first', async () => {
    assert.deepEqual(await names({}), ['featured', 'both', 'forge beta', 'old fabric'])
  })
  test('filters by any of the loaders, by type, by any value of each loader field', async () => {
    assert.deepEqual(await names({ loaders: '["fabric"]' }), ['both', 'old fabric'])
    assert.deepEqual(await names({ loaders: '["quilt","forge"]' }), ['featured', 'both', 'forge beta'])
    assert.deepEqual(await names({ version_type: 'beta' }), ['forge beta'])
    assert.deepEqual(await names({ loader_fields: '{"game_versions":["1.20.2","1.19"]}' }), ['both', 'old fabric'])
    assert.deepEqual(await names({ game_versions: '["1.20.1"]' }), ['both', 'forge beta'])
    assert.deepEqual(await names({ loaders: '["fabric"]', game_versions: '["1.20.1"]' }), ['both'])
    assert.deepEqual(await names({ loader_fields: '{"environment":["unknown"]}' }), [
      'featured',
      'both',
      'forge beta',
      'old fabric',
    ])
    assert.deepEqual(await names({ loader_fields: '{"environment":["client_only"]}' }), [])
  })
  test('an empty filter has no effect', async () => {
    assert.equal((await names({ loaders: '[]', loader_fields: '{"game_versions":[]}' })).length, 4)
  })
  test('pages by limit and offset, and featured picks', async () => {
    assert.deepEqual(await names({ limit: 2 }), ['featured', 'both'])
    assert.deepEqual(await names({ limit: 2, offset: 1 }), ['both', 'forge beta'])
    assert.deepEqual(await names({ offset: 10 }), [])
    assert.deepEqual(await names({ featured: true }), ['featured'])
    assert.deepEqual(await names({ featured: false }), ['both', 'forge beta', 'old fabric'])
  })
  test('rejects an invalid filter and names it', async () => {
    for (const [field, value] of [
      ['loaders', 'fabric'],
      ['loaders', '{}'],
      ['loader_fields', '[]'],
      ['loader_fields.unheard_of', '{"game_versions":[],"unheard_of":["x"]}'],
      ['loader_fields', '{"game_versions":"1.20"}'],
      ['game_versions', '1.20'],
      ['version_type', 'nightly'],
      ['featured', 'perhaps'],
      ['limit', '-1'],
      ['limit', '1.5'],
      ['offset', 'x'],
    ] as const) {
      const answer = await t.anyone.get(`/v3/project/${project.id}/version`, {
        query: { [field.split('.')[0] ?? '']: value },
      })
      assert.equal(answer.statusCode, 400, `${field}=${value}`)
      assert.equal(answer.json().error, 'invalid_input')
      assert.equal(answer.json().details.field, field)
    }
  })
  test('a version with an ordering comes before the rest, lower first', async () => {
    const other = await t.make.project()
    const plain = await t.make.version({ project: other, date_published: at(9) })
    const second = await t.make.version({ project: other, date_published: at(1), ordering: 5 })
    const first = await t.make.version({ project: other, date_published: at(2), ordering: -3 })
    assert.deepEqual(ids(await t.anyone.get(`/v3/project/${other.id}/version`)), [first.id, second.id, plain.id])
  })
  test('without featured versions, featured=true lists the newest version and the newest of each major game version and loader', async () => {
    const other = await t.make.project()
    const old = await t.make.version({
      project: other,
      date_published: at(1),
      loaders: ['fabric'],
      game_versions: ['1.20'],
    })
    const newer = await t.make.version({
      project: other,
      date_published: at(2),
      loaders: ['fabric'],
      game_versions: ['1.20'],
    })
    const forge = await t.make.version({
      project: other,
      date_published: at(3),
      loaders: ['forge'],
      game_versions: ['1.20', '1.20.1'],
    })
    const minor = await t.make.version({
      project: other,
      date_published: at(4),
      loaders: ['forge'],
      game_versions: ['1.20.1'],
    })
    // The newest version is included, although it has no major game version.
    assert.deepEqual(ids(await t.anyone.get(`/v3/project/${other.id}/version`, { query: { featured: true } })), [
      minor.id,
      forge.id,
      newer.id,
    ])
    assert.notEqual(old.id, newer.id)
    const none = await t.make.project()
    const only = await t.make.version({ project: none, game_versions: ['1.20.1'] })
    assert.deepEqual(ids(await t.anyone.get(`/v3/project/${none.id}/version`, { query: { featured: true } })), [
      only.id,
    ])
  })
})

test('by number or ID; the first of the list when several share a number', async () => {
  const project = await t.make.project()
  const older = await t.make.version({ project, version_number: '2.0', date_published: at(1) })
  const newer = await t.make.version({ project, version_number: '2.0', date_published: at(2) })
  const unlisted = await t.make.version({ project, version_number: '3.0', status: 'unlisted' })
  const get = async (name: string) =>
    (await t.anyone.get(`/v3/project/${project.slug}/version/${encodeURIComponent(name)}`)).json()
  assert.equal((await get('2.0')).id, newer.id)
  assert.equal((await get(older.id)).id, older.id)
  for (const name of ['3.0', unlisted.id, '9.9', 'AAAAAAAA']) assert.equal((await get(name)).error, 'not_found')
})

describe('queries', () => {
  test('a version costs one when cold and none when warm, and so does a list of any length', async () => {
    const project = await t.make.project()
    const made = await Promise.all(Array.from({ length: 40 }, () => t.make.version({ project })))
    const first = made[0]?.id ?? ''
    assert.equal((await t.queriesOf(() => t.anyone.get(`/v3/version/${first}`))).queries.length, 1)
    assert.equal((await t.queriesOf(() => t.anyone.get(`/v3/version/${first}`))).queries.length, 0)
    const query = { ids: JSON.stringify(made.map(({ id }) => id)) }
    const { result, queries } = await t.queriesOf(() => t.anyone.get('/v3/versions', { query }))
    assert.equal(result.json().length, 40)
    assert.equal(queries.length, 1)
    assert.equal((await t.queriesOf(() => t.anyone.get('/v3/versions', { query }))).queries.length, 0)
  })

  test('the list of a project costs the same for one version as for fifty', async () => {
    const counts = []
    for (const size of [1, 50]) {
      const project = await t.make.project()
      await Promise.all(Array.from({ length: size }, () => t.make.version({ project })))
      const { result, queries } = await t.queriesOf(() => t.anyone.get(`/v3/project/${project.id}/version`))
      assert.equal(result.json().length, size)
      counts.push(queries.length)
    }
    assert.equal(counts[0], counts[1])
  })
})
