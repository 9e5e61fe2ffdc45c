// Publishing versions: the form, the rules, and that a rejected upload leaves nothing behind.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { after, describe, test } from 'node:test'
import { ALL_SCOPES } from '#features/basics/access/scopes.ts'
import { newId } from '#lib/ids.ts'
import { testApp } from '#test/support/app/test-app.ts'
import type { MadeProject } from '#test/support/factories/factories.ts'
import { type FormFile, form, modJar, versionData } from '#test/support/http/forms.ts'
import { assertSays, visitor } from '#test/support/http/visitor.ts'
import { failingFiles } from '#test/support/stand-ins/failing-files.ts'
import { reviewPath } from '#web/kit/paths.ts'

const t = await testApp()
after(() => t.close())
const project = await t.make.project()
const stranger = await t.make.account()

async function publish(
  fields: Record<string, unknown>,
  files: FormFile[],
  person: { token: string } = project.owner,
  target = t,
) {
  const { payload, headers } = await form({ project_id: project.id, ...versionData(fields) }, files)
  return target.as(person).post('/v3/version', payload, { headers })
}

async function storedFiles(target = t): Promise<string[]> {
  const entries = await readdir(join(target.deps.config.dataDir, 'files'), { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
}

async function countRows(): Promise<number[]> {
  const tables = ['version', 'file', 'file_content', 'upload_claim', 'dependency'] as const
  return Promise.all(
    tables.map(
      async (table) =>
        (
          await t.deps.db
            .selectFrom(table)
            .select((eb) => eb.fn.countAll<number>().as('n'))
            .executeTakeFirstOrThrow()
        ).n,
    ),
  )
}

describe('publishing', () => {
  test('is 201 with the version; both hashes and the size are those of the bytes sent', async () => {
    const bytes = modJar('published')
    const answer = await publish({ version_number: '1.2.3' }, [{ name: 'file', filename: 'Näme (1).jar', bytes }])
    assert.equal(answer.statusCode, 201, answer.body)
    const version = answer.json()
    assert.equal(version.project_id, project.id)
    assert.equal(version.author_id, project.owner.id)
    assert.equal(version.status, 'listed')
    assert.equal(version.changelog, 'All of it.')
    assert.deepEqual(version.loaders, ['fabric'])
    assert.deepEqual(version.game_versions, ['1.20.1'])
    assert.equal(version.environment, 'unknown')
    const [file] = version.files
    assert.equal(file.hashes.sha1, createHash('sha1').update(bytes).digest('hex'))
    assert.equal(file.hashes.sha512, createHash('sha512').update(bytes).digest('hex'))
    assert.equal(file.size, bytes.length)
    assert.equal(file.primary, true)
    assert.equal(file.url, `https://depot.test/data/${project.id}/versions/${version.id}/N%C3%A4me%20%281%29.jar`)
    const view = (await t.anyone.get(`/v3/project/${project.id}`)).json()
    assert.ok(view.versions.includes(version.id))
    const download = await t.anyone.get(new URL(file.url).pathname)
    assert.deepEqual(download.rawPayload, bytes)
  })

  test('takes the other names of keys, and moves the project’s `updated`', async () => {
    t.advance(2000)
    const before = (await t.anyone.get(`/v3/project/${project.id}`)).json().updated
    const { version_title, version_body, release_channel, ...rest } = versionData()
    const { payload, headers } = await form(
      { mod_id: project.id, ...rest, name: version_title, changelog: version_body, version_type: release_channel },
      [{ name: 'file', bytes: modJar('aliases') }],
    )
    const answer = await t.as(project.owner).post('/v3/version', payload, { headers })
    assert.equal(answer.statusCode, 201, answer.body)
    assert.ok((await t.anyone.get(`/v3/project/${project.id}`)).json().updated > before)
  })

  test('several files: the named part is primary, the others are not, primary first', async () => {
    const answer = await publish(
      { file_parts: ['a', 'b', 'c'], primary_file: 'b', file_types: { c: 'sources-jar', 'a.jar': 'dev-jar' } },
      [
        { name: 'a', bytes: modJar('a') },
        { name: 'b', bytes: modJar('b') },
        { name: 'c', bytes: modJar('c') },
      ],
    )
    assert.equal(answer.statusCode, 201, answer.body)
    const files = answer.json().files as { filename: string; primary: boolean; file_type: string | null }[]
    assert.deepEqual(
      files.map(({ filename, primary, file_type }) => [filename, primary, file_type]),
      [
        ['b.jar', true, null],
        ['a.jar', false, 'dev-jar'],
        ['c.jar', false, 'sources-jar'],
      ],
    )
  })

  test('a draft is not listed in the project, and hidden from other users', async () => {
    const answer = await publish({ status: 'draft' }, [{ name: 'file', bytes: modJar('draft') }])
    const { id, files } = answer.json()
    assert.equal((await t.anyone.get(`/v3/version/${id}`)).statusCode, 404)
    assert.equal((await t.anyone.get(new URL(files[0].url).pathname)).statusCode, 404)
    assert.equal((await t.as(project.owner).get(`/v3/version/${id}`)).statusCode, 200)
    assert.ok(!(await t.anyone.get(`/v3/project/${project.id}`)).json().versions.includes(id))
  })

  test('the same bytes can be in another version of the project, not in another project', async () => {
    const bytes = modJar('shared bytes')
    assert.equal((await publish({}, [{ name: 'file', bytes }])).statusCode, 201)
    assert.equal((await publish({ version_number: '2' }, [{ name: 'file', bytes }])).statusCode, 201)
    const other = await t.make.project()
    const { payload, headers } = await form({ project_id: other.id, ...versionData() }, [{ name: 'file', bytes }])
    const answer = await t.as(other.owner).post('/v3/version', payload, { headers })
    assert.equal(answer.statusCode, 400)
    assert.equal(answer.json().details.field, 'file')
  })

  const statusOf = (target: MadeProject) => async (status: string) =>
    t.as(target.owner).patch(`/v3/project/${target.id}`, { status })
  const ofProject = async (target: MadeProject, bytes: Buffer, more: object = {}) => {
    const fields = { project_id: target.id, ...versionData({ version_number: newId() }), ...more }
    const { payload, headers } = await form(fields, [{ name: 'file', bytes }])
    return t.as(target.owner).post('/v3/version', payload, { headers })
  }

  test('a hidden project neither reveals its files nor blocks them; the first publication owns them', async () => {
    const bytes = modJar('hidden bytes')
    const hidden = await t.make.project({ status: 'draft' })
    await t.deps.db.updateTable('project').set({ approved: null }).where('id', '=', hidden.id).execute()
    assert.equal((await ofProject(hidden, bytes)).statusCode, 201)
    const publisher = await t.make.project()
    assert.equal((await ofProject(publisher, bytes)).statusCode, 201)
    // The content is public now, so a third project gets the error.
    assert.equal((await ofProject(await t.make.project(), bytes)).json().details.field, 'file')
    const moderator = await t.make.account({ role: 'moderator' })
    const changes = await t.as(moderator).get(`/_internal/moderation/projects/${hidden.id}/changes`)
    const shared = changes.json().shared_files
    assert.deepEqual(
      shared.map((file: { project: { id: string; is_owner: boolean } }) => [file.project.id, file.project.is_owner]),
      [[publisher.id, true]],
    )
    assertSays(await visitor(t, moderator.token).get(reviewPath(hidden.id)), 200, 'is also in')
    for (const approve of [
      statusOf(hidden)('processing'),
      t.as(moderator).patch(`/v3/project/${hidden.id}`, { status: 'approved' }),
    ]) {
      const refused = await approve
      assert.equal(refused.statusCode, 400, refused.body)
      assert.equal(refused.json().details.field, 'status')
      assert.match(refused.json().description, /Another project published .* first/)
    }
    assert.equal((await t.as(moderator).patch(`/v3/project/${hidden.id}`, { status: 'rejected' })).statusCode, 204)
    // When the owner removes the file, others can publish it, also the hidden project.
    const { sha512 } = shared[0]
    const own = (await t.as(publisher.owner).get(`/v3/project/${publisher.id}/version`)).json()
    assert.equal((await t.as(publisher.owner).delete(`/v3/version/${own[0].id}`)).statusCode, 204)
    assert.equal((await t.as(moderator).patch(`/v3/project/${hidden.id}`, { status: 'approved' })).statusCode, 204)
    assert.equal((await t.anyone.get(`/v3/version_file/${sha512}`)).json().project_id, hidden.id)
  })

  test('a published file stays with its project, whatever its status is later, until the project deletes it', async () => {
    const bytes = modJar('published bytes')
    const first = await t.make.project()
    assert.equal((await ofProject(first, bytes)).statusCode, 201)
    assert.equal((await statusOf(first)('draft')).statusCode, 204)
    assert.equal((await ofProject(await t.make.project({ status: 'draft' }), bytes)).statusCode, 400)
  })

  test('of two hidden projects that are published concurrently, one gets the file', async () => {
    const bytes = modJar('raced publication')
    const pair = [await t.make.project({ status: 'private' }), await t.make.project({ status: 'private' })]
    for (const target of pair) assert.equal((await ofProject(target, bytes)).statusCode, 201)
    const answers = await Promise.all(pair.map((target) => statusOf(target)('approved')))
    assert.deepEqual(answers.map(({ statusCode }) => statusCode).sort(), [204, 400])
  })

  test('only one of two projects gets the same file when both upload it concurrently', async () => {
    const bytes = modJar('raced bytes')
    const [a, b] = [await t.make.project(), await t.make.project()]
    const answers = await Promise.all(
      [a, b].map(async (target) => {
        const { payload, headers } = await form({ project_id: target.id, ...versionData() }, [{ name: 'file', bytes }])
        return t.as(target.owner).post('/v3/version', payload, { headers })
      }),
    )
    assert.deepEqual(answers.map(({ statusCode }) => statusCode).sort(), [201, 400])
  })

  test('dependencies are completed and shown; unknown and hidden ones are rejected by name', async () => {
    const other = await t.make.project()
    const needed = await t.make.version({ project: other })
    const hidden = await t.make.project({ status: 'draft' })
    const answer = await publish(
      {
        dependencies: [
          { version_id: needed.id, dependency_type: 'required' },
          { project_id: other.id, dependency_type: 'optional' },
          { file_name: 'external.jar', dependency_type: 'embedded' },
        ],
      },
      [{ name: 'file', bytes: modJar('dependencies') }],
    )
    assert.equal(answer.statusCode, 201, answer.body)
    assert.deepEqual(answer.json().dependencies, [
      { version_id: needed.id, project_id: other.id, file_name: null, dependency_type: 'required' },
      { version_id: null, project_id: other.id, file_name: null, dependency_type: 'optional' },
      { version_id: null, project_id: null, file_name: 'external.jar', dependency_type: 'embedded' },
    ])
    for (const [dependency, field] of [
      [{ project_id: 'AAAAAAAA', dependency_type: 'required' }, 'dependencies.0.project_id'],
      [{ project_id: hidden.id, dependency_type: 'required' }, 'dependencies.0.project_id'],
      [{ version_id: 'AAAAAAAA', dependency_type: 'required' }, 'dependencies.0.version_id'],
      [{ project_id: '!', dependency_type: 'required' }, 'dependencies.0.project_id'],
      [{ project_id: other.id, version_id: '', dependency_type: 'required' }, 'dependencies.0.version_id'],
      [{ dependency_type: 'required' }, 'dependencies.0'],
      [{ project_id: other.id, dependency_type: 'nice-to-have' }, 'dependencies.0.dependency_type'],
      [{ project_id: project.id, version_id: needed.id, dependency_type: 'required' }, 'dependencies.0.version_id'],
    ] as const) {
      const refused = await publish({ dependencies: [dependency] }, [
        { name: 'file', bytes: modJar(JSON.stringify(dependency)) },
      ])
      assert.equal(refused.statusCode, 400, JSON.stringify(dependency))
      assert.equal(refused.json().error, 'validation_error')
      assert.equal(refused.json().details.field, field)
    }
  })
})

describe('permissions', () => {
  test('requires a token, the scope and the permission; a hidden project is 404', async () => {
    const files = [{ name: 'file', bytes: modJar('refused') }]
    const { payload, headers } = await form({ project_id: project.id, ...versionData() }, files)
    assert.equal((await t.anyone.post('/v3/version', payload, { headers })).statusCode, 401)
    const weak = await t.make.pat(project.owner, ALL_SCOPES - 16_384)
    assert.match((await publish({}, files, weak)).json().description, /VERSION_CREATE/)
    assert.equal((await publish({}, files, weak)).statusCode, 403)
    assert.equal((await publish({}, files, stranger)).statusCode, 403)
    const hidden = await t.make.project({ status: 'draft' })
    for (const id of [hidden.id, 'AAAAAAAA', '!!']) {
      const answer = await publish({ project_id: id }, files, stranger)
      assert.equal(answer.statusCode, 400)
      assert.equal(answer.json().details.field, 'project_id')
    }
  })
})

describe('rejected input', () => {
  const refused: [string, Record<string, unknown>][] = [
    ['version_number', { version_number: '' }],
    ['version_number', { version_number: '1'.repeat(33) }],
    ['version_number', { version_number: '1 0' }],
    ['version_number', { version_number: undefined }],
    ['version_title', { version_title: '' }],
    ['version_title', { version_title: 'a'.repeat(65) }],
    ['version_title', { version_title: '   ' }],
    ['version_body', { version_body: 'a'.repeat(65_537) }],
    ['release_channel', { release_channel: 'nightly' }],
    ['release_channel', { release_channel: undefined }],
    ['loaders', { loaders: [] }],
    ['loaders.0', { loaders: ['no-such'] }],
    ['featured', { featured: 'yes' }],
    ['file_parts', { file_parts: [] }],
    ['file_parts.1', { file_parts: ['file', 'file'] }],
    ['status', { status: 'scheduled' }],
    ['status', { status: 'unknown' }],
    ['ordering', { ordering: 1.5 }],
    ['game_versions', { game_versions: undefined }],
    ['game_versions', { game_versions: [] }],
    ['game_versions.0', { game_versions: ['0.0.0'] }],
    ['environment', { environment: 'moon' }],
    ['no_such_field', { no_such_field: 1 }],
    ['file_types.file', { file_types: { file: 'no-such-type' } }],
    [
      'dependencies',
      { dependencies: Array.from({ length: 4097 }, (_, i) => ({ file_name: `f${i}`, dependency_type: 'optional' })) },
    ],
    ['dependencies.1', { dependencies: Array(2).fill({ file_name: 'twice', dependency_type: 'optional' }) }],
  ]
  for (const [field, fields] of refused) {
    test(`${JSON.stringify(fields).slice(0, 70)}: validation_error naming ${field}`, async () => {
      const before = await countRows()
      const answer = await publish(fields, [{ name: 'file', bytes: modJar('never') }])
      assert.equal(answer.statusCode, 400, answer.body)
      assert.equal(answer.json().error, 'validation_error', answer.body)
      assert.equal(answer.json().details.field, field)
      assert.deepEqual(await countRows(), before)
    })
  }

  const files: [string, FormFile[], Record<string, unknown>, string][] = [
    ['no file', [], {}, 'file_parts'],
    [
      'a part that is not declared',
      [
        { name: 'a', bytes: modJar('n') },
        { name: 'c', bytes: modJar('o') },
      ],
      { file_parts: ['a'] },
      'c',
    ],
    ['a declared part missing', [{ name: 'a', bytes: modJar('m') }], { file_parts: ['a', 'b'] }, 'b'],
    ['a name that climbs', [{ name: 'file', filename: '../x.jar', bytes: modJar('n1') }], {}, 'file'],
    ['a Windows device', [{ name: 'file', filename: 'con.jar', bytes: modJar('n2') }], {}, 'file'],
    ['a control character', [{ name: 'file', filename: 'a\u0001.jar', bytes: modJar('n3') }], {}, 'file'],
    ['no extension', [{ name: 'file', filename: 'jar', bytes: modJar('n4') }], {}, 'file'],
    ['a foreign extension', [{ name: 'file', filename: 'a.exe', bytes: modJar('n5') }], {}, 'file'],
    ['no archive', [{ name: 'file', bytes: Buffer.from('hello') }], {}, 'file'],
    ['an empty file', [{ name: 'file', bytes: Buffer.alloc(0) }], {}, 'file'],
    [
      'the same name twice',
      [
        { name: 'a', filename: 'x.jar', bytes: modJar('d1') },
        { name: 'b', filename: 'x.jar', bytes: modJar('d2') },
      ],
      { file_parts: ['a', 'b'] },
      'b',
    ],
    [
      'the same bytes twice',
      [
        { name: 'a', bytes: modJar('d3') },
        { name: 'b', bytes: modJar('d3') },
      ],
      { file_parts: ['a', 'b'] },
      'b',
    ],
    [
      'a zip bomb',
      [{ name: 'file', bytes: modJar('bomb', [{ name: 'big', data: Buffer.alloc(80 * 1024 * 1024) }]) }],
      {},
      'file',
    ],
  ]
  for (const [what, parts, fields, field] of files) {
    test(`${what}: invalid_input naming ${field}, no row and no byte left`, async () => {
      const [rows, stored] = [await countRows(), await storedFiles()]
      const answer = await publish(fields, parts)
      assert.equal(answer.statusCode, 400, answer.body)
      assert.equal(answer.json().error, 'invalid_input', answer.body)
      assert.equal(answer.json().details.field, field, answer.body)
      assert.deepEqual(await countRows(), rows)
      assert.deepEqual(await storedFiles(), stored)
    })
  }

  test('a body cut off in the middle leaves nothing', async () => {
    const stored = await storedFiles()
    const until = async (wanted: (files: string[]) => boolean): Promise<void> => {
      for (let tries = 0; tries < 200 && !wanted(await storedFiles()); tries += 1)
        await new Promise((resolve) => setTimeout(resolve, 25))
    }
    await t.app.listen({ port: 0, host: '127.0.0.1' })
    const address = t.app.server.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    const { payload, headers } = await form({ project_id: project.id, ...versionData() }, [
      { name: 'file', bytes: Buffer.alloc(3_000_000, 7) },
    ])
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => {})
    const head = `Host: x\r\nUser-Agent: t\r\nAuthorization: ${project.owner.token}\r\nContent-Type: ${headers['content-type']}`
    socket.write(`POST /v3/version HTTP/1.1\r\n${head}\r\nContent-Length: ${payload.length}\r\n\r\n`)
    socket.write(payload.subarray(0, 2_000_000))
    await until((files) => files.length > stored.length)
    assert.equal((await storedFiles()).length, stored.length + 1, 'the upload is in progress')
    socket.destroy()
    await until((files) => files.length === stored.length)
    assert.deepEqual(await storedFiles(), stored)
  })

  test('a file of 500 MiB and one byte is rejected, naming the limit, and leaves nothing', async () => {
    const stored = await storedFiles()
    const { payload, headers } = await form({ project_id: project.id, ...versionData() }, [
      { name: 'file', bytes: Buffer.from('@') },
    ])
    const [head = '', tail = ''] = payload.toString('latin1').split('@')
    const block = Buffer.alloc(1024 * 1024)
    async function* body(): AsyncGenerator<Uint8Array> {
      yield Buffer.from(head, 'latin1')
      for (let sent = 0; sent < 500; sent += 1) yield block
      yield Buffer.from(`\0${tail}`, 'latin1')
    }
    const answer = await t.as(project.owner).post('/v3/version', Readable.from(body()), { headers })
    assert.equal(answer.statusCode, 400, answer.body)
    assert.equal(answer.json().error, 'invalid_input')
    assert.equal(answer.json().details.field, 'file')
    assert.match(answer.json().description, /500 MiB/)
    assert.deepEqual(await storedFiles(), stored)
  })
})

describe('a store that fails', () => {
  test('answers 500 file_hosting_error, without a row and without an orphan', async () => {
    let failing = true
    const broken = await testApp({
      deps: ({ files }) => ({
        files: failingFiles(files, { publish: () => (failing ? new Error('disk full') : undefined) }),
      }),
    })
    try {
      const own = await broken.make.project()
      const send = async () => {
        const { payload, headers } = await form({ project_id: own.id, ...versionData({ file_parts: ['a', 'b'] }) }, [
          { name: 'a', bytes: modJar('fails a') },
          { name: 'b', bytes: modJar('fails b') },
        ])
        return broken.as(own.owner).post('/v3/version', payload, { headers })
      }
      const answer = await send()
      assert.equal(answer.statusCode, 500)
      assert.equal(answer.json().error, 'file_hosting_error')
      assert.ok(!answer.body.includes('disk full'), 'the reason stays in the log')
      assert.ok(answer.body.includes(String(answer.headers['x-request-id'])))
      assert.equal((await broken.deps.db.selectFrom('version').select('id').execute()).length, 0)
      assert.equal((await broken.deps.db.selectFrom('upload_claim').select('storage_key').execute()).length, 0)
      assert.deepEqual(await storedFiles(broken), [])
      failing = false
      assert.equal((await send()).statusCode, 201, 'and works again once the store does')
    } finally {
      await broken.close()
    }
  })
})
