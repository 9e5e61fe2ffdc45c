// Creating and editing projects through the v2 API, read through both APIs.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { SCOPES } from '#features/basics/access/scopes.ts'
import { newId } from '#lib/ids.ts'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import type { MadeProject, Person } from '#test/support/factories/factories.ts'
import { type FormFile, modJar, PNG, versionDataV2 } from '#test/support/http/forms.ts'
import { packFile, publishProjectV2 } from '#test/support/http/v2-steps.ts'

let t: TestApp
let owner: Person
let stranger: Person
before(async () => {
  t = await testApp()
  ;[owner, stranger] = await t.make.people(2)
})
after(() => t?.close())

const slugOf = () => `light-${newId().toLowerCase()}`
const create = (fields: object = {}, files: FormFile[] = [], slug = slugOf()) =>
  publishProjectV2(t.as(owner), slug, fields, files)
async function created(fields: object = {}, files: FormFile[] = []) {
  const answer = await create(fields, files)
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json()
}
const read = async (path: string, person: { token: string } = owner) => (await t.as(person).get(path)).json()
async function assertRefused(answer: { statusCode: number; body: string }, field: string) {
  const { details, description } = JSON.parse(answer.body)
  assert.deepEqual([answer.statusCode, details?.field], [400, field], description)
}
/** The v2 API reports a missing resource without a body. */
function assertAbsent(answer: { statusCode: number; body: string }) {
  assert.deepEqual([answer.statusCode, answer.body], [404, ''])
}

describe('creating', () => {
  test('a project with a version, an icon and a gallery is answered with 200 in its older shape', async () => {
    const project = await created(
      {
        is_draft: false,
        initial_versions: [versionDataV2({ file_parts: ['jar'] })],
        gallery_items: [{ item: 'dusk', featured: true, title: 'Dusk', description: 'At the tower', ordering: 2 }],
        issues_url: 'https://example.org/issues',
        wiki_url: null,
        donation_urls: [
          { id: 'ko-fi', platform: 'Ko-fi', url: 'https://example.org/coffee' },
          { platform: 'Patreon', url: 'https://example.org/patron' },
        ],
        license_url: 'https://example.org/licence',
        additional_categories: ['utility'],
        requested_status: 'unlisted',
        anything: 'else',
      },
      [
        { name: 'jar', bytes: modJar(newId()) },
        { name: 'icon', filename: 'icon.png', bytes: PNG },
        { name: 'dusk', filename: 'dusk.png', bytes: PNG },
      ],
    )
    assert.deepEqual(
      [project.description, project.body, project.status, project.requested_status, project.project_type],
      ['A project for a test.', '# Test', 'processing', 'unlisted', 'mod'],
    )
    assert.deepEqual([project.client_side, project.server_side], ['required', 'optional'])
    assert.deepEqual([project.categories, project.additional_categories], [['magic'], ['utility']])
    assert.deepEqual([project.issues_url, project.wiki_url], ['https://example.org/issues', null])
    assert.deepEqual(
      project.donation_urls.map(({ id, url }: { id: string; url: string }) => [id, url]),
      [
        ['ko-fi', 'https://example.org/coffee'],
        ['patreon', 'https://example.org/patron'],
      ],
    )
    const [picture] = project.gallery
    assert.deepEqual(
      [picture.title, picture.description, picture.featured, picture.ordering],
      ['Dusk', 'At the tower', true, 2],
    )
    assert.equal(typeof project.icon_url, 'string')
    assert.equal(project.license.url, 'https://example.org/licence')
    const newer = await read(`/v3/project/${project.id}`)
    assert.deepEqual([newer.name, newer.summary, newer.description], [project.title, project.description, project.body])
    assert.deepEqual(newer.environment, ['client_only_server_optional'])
    assert.deepEqual(await read(`/v2/project/${project.slug}`), project)
  })

  test('older names of keys count', async () => {
    const old = { title: undefined, description: undefined, body: undefined, mod_name: 'Old names', mod_body: 'Old.' }
    const project = await created({ ...old, mod_description: 'By the old names' })
    assert.deepEqual([project.title, project.description, project.body], ['Old names', 'By the old names', 'Old.'])
  })

  for (const [name, fields, file] of [
    ['its type', { project_type: 'modpack' }, { name: 'file', filename: 'a.mrpack' }],
    ['the name of a file', { project_type: 'mod' }, { name: 'file', filename: 'a.mrpack' }],
  ] as const) {
    test(`a pack is known by ${name}`, async () => {
      const versions = [versionDataV2({ loaders: ['fabric'] })]
      const project = await created({ ...fields, initial_versions: versions }, [{ ...file, bytes: packFile(newId()) }])
      assert.deepEqual([project.project_type, project.loaders], ['modpack', ['fabric']])
      const newer = await read(`/v3/version/${project.versions[0]}`)
      assert.deepEqual(
        [newer.loaders, newer.mrpack_loaders, newer.environment],
        [['mrpack'], ['fabric'], 'client_only_server_optional'],
      )
    })
  }

  test('errors use the names that the client sent, and nothing is stored', async () => {
    const slug = slugOf()
    const cases: [object, string][] = [
      [{ title: undefined, name: 'A key of the newer API' }, 'title'],
      [{ title: 'ab' }, 'title'],
      [{ title: '   x   ' }, 'title'],
      [{ description: 'x'.repeat(257) }, 'description'],
      [{ description: '     ' }, 'description'],
      [{ body: undefined }, 'body'],
      [{ body: 'x'.repeat(65_537) }, 'body'],
      [{ client_side: undefined, environment: 'client_only' }, 'client_side'],
      [{ server_side: 'sometimes' }, 'server_side'],
      [{ project_type: '' }, 'project_type'],
      [{ license_id: 'none of them' }, 'license_id'],
      [{ license_url: 'ftp://example.org' }, 'license_url'],
      [{ categories: ['nonsense'] }, 'categories.0'],
      [{ wiki_url: 'http://example.org' }, 'wiki_url'],
      [{ donation_urls: [{ id: 'issues', platform: 'x', url: 'https://example.org' }] }, 'donation_urls.0.id'],
      [{ donation_urls: [{ url: 'https://example.org' }] }, 'donation_urls.0.id'],
      [{ donation_urls: [{ id: 'ko-fi', url: 'here' }] }, 'donation_urls.0.url'],
      [{ is_draft: 'true' }, 'is_draft'],
      [{ is_draft: false }, 'initial_versions'],
      [{ initial_versions: [versionDataV2({ name: '' })] }, 'initial_versions.0.name'],
      [{ initial_versions: [versionDataV2({ version_type: 'x' })] }, 'initial_versions.0.version_type'],
      [{ initial_versions: [versionDataV2({ name: ' ' })] }, 'initial_versions.0.name'],
      [{ initial_versions: [versionDataV2({ loaders: ['x'] })] }, 'initial_versions.0.loaders.0'],
      [{ initial_versions: [versionDataV2()] }, 'file'],
      [{ requested_status: 'rejected' }, 'requested_status'],
    ]
    for (const [fields, field] of cases) await assertRefused(await create(fields, [], slug), field)
    assertAbsent(await t.anyone.get(`/v2/project/${slug}/check`))
    assert.equal((await create({}, [], slug)).statusCode, 200)
    assert.equal((await create({}, [], slug)).statusCode, 409)
  })

  test('it needs a token with the scope', async () => {
    assert.equal((await publishProjectV2(t.anyone, slugOf())).statusCode, 401)
    assert.equal((await publishProjectV2(t.as(await t.make.pat(owner, 0)), slugOf())).statusCode, 403)
  })
})

describe('editing', () => {
  let project: MadeProject
  before(async () => {
    project = await t.make.project({ owner })
    const at = (day: number) => new Date(Date.UTC(2026, 0, day))
    await t.make.version({ project, date_published: at(1), loaders: ['minecraft'] })
    await t.make.version({ project, date_published: at(2), fields: { environment: 'singleplayer_only' } })
    await t.make.version({ project, date_published: at(3), fields: { environment: 'server_only' } })
  })
  const edit = (body: object, person: { token: string } = owner) =>
    t.as(person).patch(`/v2/project/${project.id}`, body)
  const view = () => read(`/v2/project/${project.id}`)

  test('every field is saved under its newer name; null clears links and the address of the licence', async () => {
    const fields = {
      title: 'Lantern',
      description: 'A light to carry',
      body: 'All about it.',
      categories: ['magic'],
      additional_categories: ['utility'],
      issues_url: 'https://example.org/issues',
      source_url: 'https://example.org/source',
      wiki_url: 'https://example.org/wiki',
      discord_url: 'https://example.org/chat',
      slug: slugOf(),
      requested_status: 'unlisted',
      monetization_status: 'demonetized',
    }
    const sent = { ...fields, license_id: 'Apache-2.0', license_url: 'https://example.org/l', unknown: 1, license: {} }
    assert.equal((await edit(sent)).statusCode, 204)
    const later = await view()
    for (const [field, value] of Object.entries(fields)) assert.deepEqual(later[field], value, field)
    assert.deepEqual([later.license.id, later.license.url], ['Apache-2.0', 'https://example.org/l'])
    assert.equal(
      (await edit({ issues_url: null, license_url: null, requested_status: null, title: null })).statusCode,
      204,
    )
    const cleared = await view()
    assert.deepEqual(
      [cleared.issues_url, cleared.license.url, cleared.requested_status, cleared.title, cleared.wiki_url],
      [null, null, null, 'Lantern', 'https://example.org/wiki'],
    )
  })

  test('donation links are replaced all together, other links stay', async () => {
    const links = (ids: string[]) => ids.map((id) => ({ id, platform: 'x', url: `https://example.org/${id}` }))
    const shown = async () => (await view()).donation_urls.map(({ id }: { id: string }) => id)
    assert.equal((await edit({ donation_urls: links(['bmac', 'github']) })).statusCode, 204)
    assert.equal((await edit({ donation_urls: links(['ko-fi']), wiki_url: 'https://example.org/w' })).statusCode, 204)
    assert.deepEqual([await shown(), (await view()).wiki_url], [['ko-fi'], 'https://example.org/w'])
    assert.equal((await edit({ donation_urls: null })).statusCode, 204)
    assert.deepEqual(await shown(), ['ko-fi'])
    assert.equal((await edit({ donation_urls: [] })).statusCode, 204)
    assert.deepEqual([await shown(), (await view()).wiki_url], [[], 'https://example.org/w'])
  })

  test('sides go to every version that has them; one that is not sent, or shows the same, stays', async () => {
    const environments = async () => {
      const versions = await read(`/v3/project/${project.id}/version`)
      return versions.map(({ environment }: { environment?: string }) => environment).toSorted()
    }
    const before = await view()
    assert.equal((await edit({ client_side: 'required' })).statusCode, 204)
    assert.deepEqual(await environments(), ['client_and_server', 'singleplayer_only', undefined])
    assert.equal((await edit({ client_side: 'required', server_side: 'unsupported', title: 'Both' })).statusCode, 204)
    assert.deepEqual(await environments(), ['client_only', 'client_only', undefined])
    const after = await view()
    assert.deepEqual([after.client_side, after.server_side, after.title], ['required', 'unsupported', 'Both'])
    assert.ok(after.updated > before.updated)
    // The edit is one transaction: a rejected edit leaves the versions unchanged.
    await assertRefused(await edit({ server_side: 'required', categories: ['nonsense'] }), 'categories.0')
    assert.deepEqual(await environments(), ['client_only', 'client_only', undefined])
    await assertRefused(await edit({ client_side: 'always' }), 'client_side')
  })

  test('sides of a project with several types are shown after the edit, in the project and in search', async () => {
    const mixed = await t.make.project({ owner })
    await t.make.version({ project: mixed, fields: { environment: 'client_only' }, date_published: new Date(0) })
    await t.make.version({ project: mixed, loaders: ['paper'] })
    const sides = { client_side: 'optional', server_side: 'required' }
    assert.equal((await t.as(owner).patch(`/v2/project/${mixed.id}`, sides)).statusCode, 204)
    await t.searchable()
    const facets = JSON.stringify([[`project_id:${mixed.id}`], ['client_side:optional'], ['server_side:required']])
    const { hits } = (await t.anyone.get('/v2/search', { query: { facets } })).json()
    for (const { client_side, server_side } of [await read(`/v2/project/${mixed.id}`), ...hits])
      assert.deepEqual({ client_side, server_side }, sides)
    assert.equal(hits.length, 1)
  })

  test('sides need the scope and the permission to edit versions besides', async () => {
    const bit = SCOPES.find(({ name }) => name === 'PROJECT_WRITE')?.value ?? 0
    const refused = await edit({ client_side: 'optional' }, await t.make.pat(owner, bit))
    assert.deepEqual([refused.statusCode, refused.json().details], [403, { scope: 'VERSION_WRITE' }])
    assert.equal((await edit({ title: 'Lantern' }, await t.make.pat(owner, bit))).statusCode, 204)
    const editor = await t.make.account()
    await t.make.member({ teamId: project.teamId, accountId: editor.id, permissions: 4 })
    assert.equal((await edit({ title: 'By an editor' }, editor)).statusCode, 204)
    assert.equal((await edit({ title: 'Half', client_side: 'optional' }, editor)).statusCode, 403)
    assert.equal((await view()).title, 'By an editor')
  })

  test('a response can be sent back unchanged, and does not change differing versions', async () => {
    await t.make.version({ project, fields: { environment: 'server_only_client_optional' } })
    assert.equal((await edit({ title: 'Mixed' })).statusCode, 204)
    const shown = await view()
    assert.deepEqual([shown.client_side, shown.environment.length], ['optional', 3])
    const { downloads, ...whole } = shown
    const answer = await edit({ ...whole, downloads })
    assert.equal(answer.statusCode, 204, answer.body)
    const { updated: _, ...later } = await view()
    const { updated: __, ...earlier } = shown
    assert.deepEqual(later, earlier)
  })

  test('errors use the names that the client sent', async () => {
    const cases: [object, string][] = [
      [{ title: 'x' }, 'title'],
      [{ description: '    ' }, 'description'],
      [{ body: 7 }, 'body'],
      [{ status: 'nonsense' }, 'status'],
      [{ source_url: 'nonsense' }, 'source_url'],
      [{ donation_urls: [{ id: 'nonsense', url: 'https://example.org' }] }, 'donation_urls.0.id'],
      [{ additional_categories: ['magic', 'nonsense'] }, 'additional_categories.1'],
    ]
    for (const [body, field] of cases) await assertRefused(await edit(body), field)
    assert.equal((await edit({ slug: (await t.make.project()).slug })).statusCode, 409)
  })

  test('callers without permission are rejected; hidden projects are absent', async () => {
    assert.equal((await t.anyone.patch(`/v2/project/${project.id}`, { title: 'Other' })).statusCode, 401)
    assert.equal((await edit({ title: 'Other' }, stranger)).statusCode, 403)
    const draft = await t.make.project({ status: 'draft' })
    for (const answer of [
      await t.as(stranger).patch(`/v2/project/${draft.id}`, { title: 'Other' }),
      await t.as(stranger).delete(`/v2/project/${draft.id}`),
      await t.as(stranger).post(`/v2/project/${draft.id}/follow`),
      await t.as(stranger).patch(`/v2/project/${draft.id}/icon?ext=png`, PNG),
      await t.as(stranger).patch('/v2/project/nothing-here', { title: 'Other' }),
    ])
      assertAbsent(answer)
  })

  test('a JSON content type also works for an icon and gallery images', async () => {
    const as = t.as(owner)
    const path = `/v2/project/${project.id}`
    const headers = { 'content-type': 'application/json' }
    assert.equal((await as.patch(`${path}/icon?ext=png`, PNG, { headers })).statusCode, 204)
    assert.equal(typeof (await view()).icon_url, 'string')
    assert.equal((await as.delete(`${path}/icon`)).statusCode, 204)
    assert.equal((await view()).icon_url, null)
    const added = `${path}/gallery?ext=png&featured=false&title=Dusk&description=Low&ordering=3`
    assert.equal((await as.post(added, PNG, { headers })).statusCode, 204)
    const [picture] = (await view()).gallery
    assert.deepEqual([picture.title, picture.description, picture.ordering], ['Dusk', 'Low', 3])
    const query = { url: picture.url, title: 'Dawn', featured: true }
    assert.equal((await as.patch(`${path}/gallery`, undefined, { query })).statusCode, 204)
    const [edited] = (await view()).gallery
    assert.deepEqual([edited.title, edited.featured], ['Dawn', true])
    assert.equal(
      (await t.as(stranger).delete(`${path}/gallery`, undefined, { query: { url: picture.url } })).statusCode,
      403,
    )
    assert.equal((await as.delete(`${path}/gallery`, undefined, { query: { url: picture.url } })).statusCode, 204)
    assert.deepEqual((await view()).gallery, [])
    assert.equal((await as.post(`${path}/gallery?ext=png&featured=maybe`, PNG)).statusCode, 400)
    assert.equal((await as.patch(`${path}/icon?ext=png`, Buffer.from('not an image'))).statusCode, 400)
  })

  test('a project is scheduled, and deleted', async () => {
    const time = new Date(Date.now() + 3_600_000).toISOString()
    const path = `/v2/project/${project.id}/schedule`
    await assertRefused(
      await t.as(owner).post(path, { time: '2001-01-01T00:00:00Z', requested_status: 'approved' }),
      'time',
    )
    await assertRefused(await t.as(owner).post(path, { time, requested_status: 'rejected' }), 'requested_status')
    assert.equal((await t.as(stranger).post(path, { time, requested_status: 'approved' })).statusCode, 403)
    assert.equal((await t.as(owner).post(path, { time, requested_status: 'approved' })).statusCode, 204)
    assert.equal((await view()).status, 'scheduled')
    assertAbsent(await t.as(stranger).delete(`/v2/project/${project.id}`))
    assert.equal((await t.as(owner).delete(`/v2/project/${project.id}`)).statusCode, 204)
    assertAbsent(await t.as(owner).get(`/v2/project/${project.id}`))
  })
})

describe('editing many', () => {
  test('categories and links, all or none', async () => {
    const projects = [await t.make.project({ owner }), await t.make.project({ owner })]
    const other = await t.make.project()
    const query = { ids: JSON.stringify(projects.map(({ id }) => id)) }
    const edit = (body: object, person: Person = owner) => t.as(person).patch('/v2/projects', body, { query })
    const link = (id: string) => ({ id, platform: 'x', url: `https://example.org/${id}` })
    const body = {
      add_categories: ['magic'],
      add_additional_categories: ['utility'],
      issues_url: 'https://example.org/i',
      donation_urls: [link('ko-fi'), link('bmac')],
      remove_donation_urls: [link('bmac')],
      add_donation_urls: [link('github')],
      summary: 'ignored',
    }
    assert.equal((await edit(body)).statusCode, 204)
    for (const { id } of projects) {
      const view = await read(`/v2/project/${id}`)
      assert.deepEqual(
        [view.categories, view.additional_categories, view.issues_url],
        [['magic'], ['utility'], 'https://example.org/i'],
      )
      assert.deepEqual(
        view.donation_urls.map(({ id: name }: { id: string }) => name),
        ['github', 'ko-fi'],
      )
    }
    assert.equal((await edit({ issues_url: null, remove_categories: ['magic'] })).statusCode, 204)
    const after = await read(`/v2/project/${projects[0]?.id}`)
    assert.deepEqual([after.issues_url, after.categories], [null, []])
    await assertRefused(await edit({ add_donation_urls: [link('wiki')] }), 'add_donation_urls.0.id')
    await assertRefused(await edit({ wiki_url: 'here' }), 'wiki_url')
    await assertRefused(await edit({ add_categories: ['nonsense'] }), 'add_categories.0')
    assert.equal((await edit({ issues_url: null }, stranger)).statusCode, 403)
    const both = { query: { ids: JSON.stringify([projects[0]?.id, other.id]) } }
    assert.equal((await t.as(owner).patch('/v2/projects', { add_categories: ['magic'] }, both)).statusCode, 403)
    assert.deepEqual((await read(`/v2/project/${projects[0]?.id}`)).categories, [])
    const absent = { query: { ids: '["AAAAAAAA"]' } }
    assertAbsent(await t.as(owner).patch('/v2/projects', { add_categories: ['magic'] }, absent))
    assert.equal((await t.as(owner).patch('/v2/projects', {}, { query: { ids: 'x' } })).statusCode, 400)
  })
})
