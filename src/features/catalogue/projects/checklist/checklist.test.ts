// The checklist of a project before its review, the submission that checks it, and the type of a draft.
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { testApp } from '#test/support/app/test-app.ts'
import type { MadeProject, Person } from '#test/support/factories/factories.ts'
import { scopeBits } from '#test/support/factories/team-factories.ts'
import { assertError } from '#test/support/http/account-steps.ts'
import { form, modJar, projectData, versionData } from '#test/support/http/forms.ts'

const t = await testApp()
after(() => t.close())
const owner = await t.make.account()

type Item = { id: string; weight: string; field: string; done: boolean }
const listOf = (id: string, who: Person | { token: string } = owner) => t.as(who).get(`/v3/project/${id}/checklist`)
async function items(id: string): Promise<Item[]> {
  const answer = await listOf(id)
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json()
}
const open = async (id: string, weight: string): Promise<string[]> =>
  (await items(id)).filter((item) => item.weight === weight && !item.done).map((item) => item.id)
const patch = (id: string, body: object) => t.as(owner).patch(`/v3/project/${id}`, body)
const submit = (id: string) => patch(id, { status: 'processing' })

let count = 0
/** Creates a draft in the way of a short form: without description, versions and tags. */
async function draft(fields: Record<string, unknown> = {}): Promise<string> {
  count += 1
  const body = projectData(`draft-${count}`, { description: '', categories: [], ...fields })
  const answer = await t.as(owner).post('/v3/project', body)
  assert.equal(answer.statusCode, 201, answer.body)
  return answer.json().id
}
const withVersion = (id: string, status = 'listed') => t.make.version({ project: { id, owner } as MadeProject, status })

describe('the checklist', () => {
  test('lists what is missing, and each edit completes its item', async () => {
    const id = await draft({ license_id: 'arr', license_decided: false })
    assert.deepEqual(await open(id, 'needed'), ['license', 'description', 'version'])
    assert.deepEqual(await open(id, 'advised'), [
      'icon',
      'description_length',
      'description_structure',
      'gallery',
      'category',
    ])
    const fields = new Map((await items(id)).map((item) => [item.id, item.field]))
    assert.deepEqual(
      ['license', 'description_length', 'version'].map((item) => fields.get(item)),
      ['license_id', 'description', 'versions'],
    )
    await patch(id, { license_id: 'GPL-3.0-only', description: 'A short text', categories: ['magic'] })
    assert.deepEqual(await open(id, 'needed'), ['version'])
    assert.ok((await open(id, 'advised')).includes('source'), 'the licence asks for the source')
    await patch(id, {
      description: `# Light\n\n${'It shines. '.repeat(20)}`,
      link_urls: { source: 'https://example.org' },
    })
    assert.deepEqual(await open(id, 'advised'), ['icon', 'gallery'])
    await withVersion(id)
    assert.deepEqual(await open(id, 'needed'), [])
  })

  test('is for members and moderators', async () => {
    const id = await draft()
    const [stranger, moderator] = [await t.make.account(), await t.make.account({ role: 'moderator' })]
    assertError(await listOf(id, stranger), 404, 'not_found')
    assertError(await t.anyone.get(`/v3/project/${id}/checklist`), 401, 'unauthorized')
    assert.equal((await listOf(id, moderator)).statusCode, 200)
    const shown = await t.make.project()
    assertError(await listOf(shown.id, stranger), 403, 'unauthorized')
    const narrow = await t.make.pat(owner, scopeBits('ALL_BUT', 'PROJECT_READ'))
    assertError(await listOf(id, narrow), 403, 'unauthorized')
  })

  test('a submission needs every needed item, and the error names the field', async () => {
    const id = await draft({ license_id: 'arr', license_decided: false })
    const missing: [object, string][] = [
      [{}, 'license_id'],
      [{ license_id: 'arr' }, 'description'],
      [{ description: ' \n' }, 'description'],
      [{ description: 'It shines' }, 'versions'],
    ]
    for (const [edit, field] of missing) {
      if (Object.keys(edit).length > 0) assert.equal((await patch(id, edit)).statusCode, 204)
      assertError(await submit(id), 400, 'invalid_input', field)
    }
    await withVersion(id, 'draft')
    assertError(await submit(id), 400, 'invalid_input', 'versions')
    await withVersion(id)
    const both = await patch(id, { status: 'processing', description: '' })
    assertError(both, 400, 'invalid_input', 'description')
    assert.equal((await submit(id)).statusCode, 204)
  })
})

describe('the type of a draft', () => {
  const typesOf = async (id: string): Promise<string[]> =>
    (await t.as(owner).get(`/v3/project/${id}`)).json().project_types

  test('is chosen until there is a version, whose loaders then decide', async () => {
    const id = await draft({ project_type: 'shader' })
    assert.deepEqual(await typesOf(id), ['shader'])
    assert.equal((await patch(id, { project_type: 'resourcepack' })).statusCode, 204)
    assert.deepEqual(await typesOf(id), ['resourcepack'])
    assert.equal((await patch(id, { project_type: null })).statusCode, 204)
    assert.deepEqual(await typesOf(id), [])
    await patch(id, { project_type: 'shader' })
    const upload = await form({ ...versionData(), project_id: id }, [{ name: 'file', bytes: modJar(id) }])
    const { payload, headers } = upload
    assert.equal((await t.as(owner).post('/v3/version', payload, { headers })).statusCode, 201)
    assert.deepEqual(await typesOf(id), ['mod'])
    assertError(await patch(id, { project_type: 'shader' }), 400, 'validation_error', 'project_type')
  })

  test('must be known, and is not for a project that is created with versions', async () => {
    const create = (fields: Record<string, unknown>) => t.as(owner).post('/v3/project', projectData('typed', fields))
    assertError(await create({ project_type: 'song' }), 400, 'validation_error', 'project_type')
    assertError(await create({ project_type: 5 }), 400, 'validation_error', 'project_type')
    const both = { project_type: 'mod', initial_versions: [versionData()] }
    assertError(await create(both), 400, 'validation_error', 'project_type')
    assertError(await patch(await draft(), { project_type: 'song' }), 400, 'validation_error', 'project_type')
  })
})
