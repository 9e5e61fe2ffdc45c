// Dry runs check what the request checks and leave nothing; a refused body lists its errors.
import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { sql } from 'kysely'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import { type FormFile, form, modJar, projectData, versionData } from '#test/support/http/forms.ts'

const t = await testApp()
after(() => t.close())
const project = await t.make.project()
const stranger = await t.make.account()

type Answer = Awaited<ReturnType<ReturnType<TestApp['as']>['get']>>

async function send(
  path: string,
  { data, files = [], as = project.owner }: { data: unknown; files?: FormFile[]; as?: { token: string } },
) {
  const { payload, headers } = await form(data, files)
  return t.as(as).post(path, payload, { headers })
}

/** Every row of every table, the jobs, the stored and staged files, and the counters of events. */
async function everything(): Promise<unknown> {
  const { rows: tables } = await sql<{ name: string }>`
    select format('%I.%I', schemaname, tablename) as name from pg_tables
    where schemaname not in ('pg_catalog', 'information_schema') order by 1`.execute(t.deps.db)
  // The use of tokens and sessions is stored some seconds after each request.
  const hashes = tables.map(
    ({
      name,
    }) => sql`select ${name}::text as name, count(*) || coalesce(md5(string_agg(known::text, '' order by known::text)), '')
      from ${sql.raw(name)} x, lateral (select to_jsonb(x) - '{last_used,last_login,ip,user_agent}'::text[] as known) y`,
  )
  const { rows: counts } = await sql`${sql.join(hashes, sql` union all `)} order by name`.execute(t.deps.db)
  const files = await readdir(join(t.deps.config.dataDir, 'files'), { recursive: true })
  const events = await t.deps.metrics.events.get()
  return { counts, files: files.sort(), events: events.values }
}

async function leavesNothing(act: () => Promise<Answer>, before?: unknown): Promise<Answer> {
  const expected = before ?? (await everything())
  const answer = await act()
  assert.deepEqual(await everything(), expected)
  return answer
}

const jar = (salt: string): FormFile => ({ name: 'file', filename: `${salt}.jar`, bytes: modJar(salt) })

describe('a dry run', () => {
  const PREFER = { prefer: 'respond-async, Validate-Only;x=1' }
  const asOwner = () => t.as(project.owner)

  test('of every route that writes a project or a version leaves nothing, also in the v2 API and with the preference', async () => {
    const version = await t.make.version({ project })
    await t.make.file({ project, version, bytes: modJar('kept'), filename: 'kept.jar' })
    const schedule = { time: new Date(t.deps.now() + 86_400_000).toISOString(), requested_status: 'unlisted' }
    const v2 = {
      ...versionData({ version_number: 'v2' }),
      project_id: project.id,
      featured: false,
      changelog: '',
      version_body: null,
    }
    const writes: [method: 'PATCH' | 'POST' | 'DELETE', path: string, body?: object, file?: FormFile][] = [
      ['PATCH', `/v3/project/${project.id}`, { name: 'Changed' }],
      ['PATCH', `/v2/project/${project.id}`, { title: 'Changed' }],
      ['PATCH', `/v3/projects?ids=["${project.id}"]`, { categories: ['utility'] }],
      ['PATCH', `/v2/projects?ids=["${project.id}"]`, { categories: ['utility'] }],
      ['POST', `/v2/project/${project.id}/schedule`, schedule],
      ['DELETE', `/v3/project/${project.id}`],
      ['DELETE', `/v2/project/${project.id}`],
      ['PATCH', `/v3/version/${version.id}`, { name: 'Changed' }],
      ['PATCH', `/v2/version/${version.id}`, { name: 'Changed' }],
      ['PATCH', `/v3/versions?ids=["${version.id}"]`, { status: 'unlisted' }],
      ['POST', `/v2/version/${version.id}/schedule`, schedule],
      ['DELETE', `/v3/version/${version.id}`],
      ['DELETE', `/v2/version/${version.id}`],
      ['POST', '/v2/version', v2, jar('dry v2')],
      ['POST', '/v3/version', { ...versionData({ version_number: 'v3' }), project_id: project.id }, jar('dry v3')],
      ['POST', `/v2/version/${version.id}/file`, {}, jar('dry file')],
    ]
    const before = await everything()
    for (const [method, path, body, file] of writes) {
      const sent = file === undefined ? { payload: body, headers: {} } : await form(body, [file])
      const send = (url: string, more: object) =>
        leavesNothing(
          () =>
            t.inject({
              method,
              url,
              ...(sent.payload === undefined ? {} : { payload: sent.payload }),
              headers: { authorization: project.owner.token, 'user-agent': 'tests/1.0', ...sent.headers, ...more },
            }),
          before,
        )
      const byQuery = await send(`${path}${path.includes('?') ? '&' : '?'}dry_run=true`, {})
      assert.ok([200, 204].includes(byQuery.statusCode), `${method} ${path} ${byQuery.body}`)
      const byHeader = await send(path, PREFER)
      assert.ok([200, 204].includes(byHeader.statusCode), `${method} ${path} ${byHeader.body}`)
      assert.equal(byHeader.headers['preference-applied'], 'validate-only', path)
    }
    const wrong = await leavesNothing(() => asOwner().patch(`/v2/project/${project.id}?dry_run=true`, { slug: '!' }))
    assert.equal(wrong.statusCode, 400)
  })

  test('of any other route that writes is rejected, and changes nothing', async () => {
    for (const headers of [{}, PREFER]) {
      const query = headers === PREFER ? '' : '?dry_run=true'
      const refused = await leavesNothing(() =>
        asOwner().patch(`/v3/user/${project.owner.id}${query}`, { bio: 'x' }, { headers }),
      )
      assert.equal(refused.statusCode, 400)
      assert.equal(refused.json().details.field, 'dry_run')
    }
    assert.equal((await asOwner().patch(`/v3/user/${project.owner.id}?dry_run=false`, { bio: 'x' })).statusCode, 204)
  })

  test('of a version says what it would store, leaves nothing, and the request then succeeds', async () => {
    const data = {
      project_id: project.id,
      ...versionData({ dependencies: [{ file_name: 'x.jar', dependency_type: 'optional' }] }),
    }
    const files = [jar('dry')]
    const dry = await leavesNothing(() => send('/v3/version?dry_run=true', { data, files }))
    assert.equal(dry.statusCode, 200, dry.body)
    assert.deepEqual(dry.json(), {
      valid: true,
      warnings: [],
      would: {
        status: 'listed',
        file_types: { 'dry.jar': null },
        dependencies: [{ project_id: null, version_id: null, file_name: 'x.jar', dependency_type: 'optional' }],
      },
    })
    assert.equal((await send('/v3/version?dry_run=false', { data, files })).statusCode, 201)
  })

  test('of a version that does not become the latest warns of the version that stays before it', async () => {
    const own = await t.make.project()
    const as = own.owner
    const first = await t.make.version({ project: own, version_number: '5.0' })
    const data = { project_id: own.id, ...versionData({ version_number: '6.0' }) }
    const warningsOf = async (more: object = {}) =>
      (await send('/v3/version?dry_run=true', { data: { ...data, ...more }, files: [jar('ahead')], as })).json()
        .warnings
    assert.deepEqual(await warningsOf(), [])
    await t.as(as).patch(`/v3/version/${first.id}`, { ordering: 3 })
    const message =
      'Version 5.0 stays before this version in lists and remains the latest version, because of its ordering or its number'
    assert.deepEqual(await warningsOf(), [{ field: 'ordering', message }])
    assert.deepEqual(await warningsOf({ ordering: 2 }), [])
    assert.deepEqual(await warningsOf({ ordering: 4 }), [{ field: 'ordering', message }])
    const draft = await send('/v3/version', { data: { ...data, status: 'draft' }, files: [jar('ahead')], as })
    assert.equal(draft.statusCode, 201, draft.body)
    const published = await t.as(as).patch(`/v3/version/${draft.json().id}?dry_run=true`, { status: 'listed' })
    assert.deepEqual(published.json().warnings, [{ field: 'ordering', message }])
  })

  test('of a version without files warns that they are not checked, as JSON too', async () => {
    const data = { project_id: project.id, ...versionData({ version_number: '7' }) }
    const asForm = await leavesNothing(() => send('/v3/version?dry_run=true', { data }))
    const asJson = await leavesNothing(() => t.as(project.owner).post('/v3/version?dry_run=true', data))
    for (const answer of [asForm, asJson]) {
      assert.equal(answer.statusCode, 200, answer.body)
      assert.deepEqual(answer.json().warnings, [
        { field: 'file_parts', message: 'The files were not sent, so they were not checked' },
      ])
    }
    const real = await t.as(project.owner).post('/v3/version', data)
    assert.equal(real.statusCode, 400)
    assert.equal(real.json().details.field, 'file_parts')
  })

  test('of a project, an edit of it, an edit of a version and added files leave nothing', async () => {
    const versions = [versionData({ file_parts: ['a'] })]
    const data = projectData('dry-project', { is_draft: false, initial_versions: versions })
    const files = [{ name: 'a', bytes: modJar('of-project') }]
    const created = await leavesNothing(() => send('/v3/project?dry_run=true', { data, files }))
    assert.equal(created.statusCode, 200, created.body)
    assert.deepEqual(created.json().would, {
      status: 'processing',
      versions: [{ version_number: '1.0.0', file_types: { 'a.jar': null }, dependencies: [] }],
    })
    const unchecked = await leavesNothing(() => t.as(project.owner).post('/v3/project?dry_run=true', data))
    assert.equal(unchecked.json().warnings[0].field, 'initial_versions.0.file_parts')
    const owner = t.as(project.owner)
    const edited = await leavesNothing(() =>
      owner.patch(`/v3/project/${project.id}?dry_run=true`, { name: 'Another name', slug: 'another-slug' }),
    )
    assert.equal(edited.statusCode, 200, edited.body)
    assert.deepEqual(edited.json().would, { status: 'approved' })
    assert.equal((await leavesNothing(() => owner.patch(`/v3/project/${project.id}?dry_run=true`, {}))).statusCode, 200)
    const version = await t.make.version({ project })
    const path = `/v3/version/${version.id}`
    const versionEdit = await leavesNothing(() =>
      owner.patch(`${path}?dry_run=true`, { name: 'B', status: 'archived' }),
    )
    assert.equal(versionEdit.json().would.status, 'archived')
    const added = await leavesNothing(() =>
      send(`${path}/file?dry_run=true`, { data: undefined, files: [jar('more')] }),
    )
    assert.equal(added.statusCode, 200, added.body)
    assert.ok('more.jar' in added.json().would.file_types)
  })

  test('is refused like the request', async () => {
    const data = { project_id: project.id, ...versionData({ version_number: '8' }) }
    const requests: [string, Parameters<typeof send>[1]][] = [
      ['/v3/version', { data: { ...data, loaders: ['nope'] }, files: [jar('r')] }],
      ['/v3/version', { data, files: [{ ...jar('r'), bytes: Buffer.from('not an archive') }] }],
      ['/v3/version', { data, files: [{ ...jar('r'), filename: 'a.exe' }] }],
      ['/v3/version', { data: { ...data, version_number: '1.0.0' }, files: [jar('dry')] }],
      ['/v3/version', { data, files: [jar('r')], as: stranger }],
      ['/v3/project', { data: projectData(project.slug) }],
    ]
    for (const [path, request] of requests) {
      const real = await send(path, request)
      const dry = await leavesNothing(() => send(`${path}?dry_run=true`, request))
      assert.ok(real.statusCode >= 400, real.body)
      assert.deepEqual([dry.statusCode, dry.json()], [real.statusCode, real.json()])
    }
    const patch = { slug: project.slug, name: '!'.repeat(65) }
    const path = `/v3/project/${project.id}`
    const real = await t.as(project.owner).patch(path, patch)
    assert.deepEqual((await t.as(project.owner).patch(`${path}?dry_run=true`, patch)).json(), real.json())
    assert.equal((await t.as(stranger).patch(`${path}?dry_run=true`, { name: 'A name' })).statusCode, 403)
    assert.equal((await t.anyone.patch(`${path}?dry_run=true`, { name: 'A name' })).statusCode, 401)
  })

  test('has only the values true and false', async () => {
    const answer = await t.as(project.owner).patch(`/v3/project/${project.id}?dry_run=1`, {})
    assert.equal(answer.statusCode, 400)
    assert.equal(answer.json().error, 'invalid_input')
    assert.equal(answer.json().details.field, 'dry_run')
  })
})

const fieldsOf = (answer: { json(): { errors?: { field: string }[] } }) =>
  answer.json().errors?.map(({ field }) => field)

describe('a refused body', () => {
  test('lists the errors of its schema and of other rules, the first as in details', async () => {
    const data = {
      project_id: 'AAAAAAAA',
      ...versionData({
        version_title: '',
        version_number: undefined,
        loaders: ['fabric', 'a', 'b', 'c', 'd'],
        dependencies: [{ project_id: 'BBBBBBBB', dependency_type: 'required' }],
        nonsense: 1,
      }),
    }
    const answer = await t.as(project.owner).post('/v3/version', data)
    assert.equal(answer.statusCode, 400)
    const { error, details, errors } = answer.json()
    assert.deepEqual(errors[0], { error, field: details.field, message: details.message })
    assert.deepEqual(fieldsOf(answer), [
      'version_number',
      'version_title',
      'loaders.1',
      'loaders.2',
      'loaders.3',
      'nonsense',
      'project_id',
      'dependencies.0.project_id',
    ])
  })

  test('of a project lists the errors of its versions, and a slug that is taken', async () => {
    const versions = [versionData({ loaders: ['a'], file_parts: ['x', 'x'] }), 7]
    const data = projectData(project.slug, {
      name: '  a',
      license_id: 'nope',
      is_draft: false,
      initial_versions: versions,
    })
    const answer = await t.as(project.owner).post('/v3/project', data)
    assert.deepEqual(fieldsOf(answer)?.toSorted(), [
      'initial_versions.0.file_parts.1',
      'initial_versions.0.loaders.0',
      'initial_versions.1',
      'license_id',
      'name',
      'slug',
    ])
    assert.equal(answer.json().errors.at(-1)?.error, 'conflict')
  })

  test('of an edit lists the errors of both kinds, and nothing of hidden resources', async () => {
    const other = await t.make.project()
    const patch = { name: 5, slug: other.slug, categories: ['no', 'magic'], link_urls: { nope: 'https://a.example' } }
    const answer = await t.as(project.owner).patch(`/v3/project/${project.id}`, patch)
    assert.equal(answer.statusCode, 400)
    assert.deepEqual(fieldsOf(answer), ['name', 'categories.0', 'link_urls.nope', 'slug'])
    assert.deepEqual(fieldsOf(await t.as(stranger).patch(`/v3/project/${project.id}`, patch)), ['name'])
    assert.deepEqual(fieldsOf(await t.as(stranger).patch('/v3/project/nothing-here', patch)), ['name'])
    const version = await t.make.version({ project })
    const bad = { name: 5, loaders: ['no'], dependencies: [{ dependency_type: 'required' }], primary_file: 'x', odd: 1 }
    const refused = await t.as(project.owner).patch(`/v3/version/${version.id}`, bad)
    assert.deepEqual(fieldsOf(refused)?.toSorted(), ['dependencies.0', 'loaders.0', 'name', 'odd', 'primary_file'])
  })

  test('of an edit with one invalid field saves none of the valid ones', async () => {
    const version = await t.make.version({ project })
    const owner = t.as(project.owner)
    const edits = [
      () => owner.patch(`/v3/project/${project.id}`, { name: 5, summary: 'A valid summary', status: 'archived' }),
      () => owner.patch(`/v3/version/${version.id}`, { name: 5, changelog: 'Valid', featured: true }),
    ]
    for (const edit of edits) assert.deepEqual(fieldsOf(await leavesNothing(edit)), ['name'])
  })

  test('with 1,000 errors lists 32 of them, in a time that does not depend on their number', async () => {
    const odd = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`odd_${index}`, index]))
    const dependencies = Array.from({ length: 1000 }, () => ({ dependency_type: 'nope' }))
    const data = { project_id: project.id, ...versionData({ dependencies, file_types: odd, ...odd }) }
    const answer = await t.as(project.owner).post('/v3/version', data)
    assert.equal(answer.json().errors.length, 32)
    assert.deepEqual(
      fieldsOf(answer)?.slice(0, 3),
      [0, 1, 2].map((index) => `dependencies.${index}.dependency_type`),
    )
    const versions = Array.from({ length: 32 }, () => ({ ...versionData({ dependencies, ...odd }) }))
    const started = process.cpuUsage()
    const many = await t.as(project.owner).post('/v3/project', projectData('many', { initial_versions: versions }))
    const { user, system } = process.cpuUsage(started)
    assert.equal(many.json().errors.length, 32)
    assert.ok(user + system < 2_000_000, `${user + system} µs`)
  })

  test('has one error in the v2 API', async () => {
    const answer = await t.as(project.owner).patch(`/v2/project/${project.id}`, { title: 5, slug: 7 })
    assert.equal(answer.statusCode, 400)
    assert.equal(answer.json().errors, undefined)
  })
})
