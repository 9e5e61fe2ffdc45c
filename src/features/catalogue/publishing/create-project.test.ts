// POST /v3/project: accepted and rejected forms, and what exists after either.
import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { ALL_SCOPES } from '#features/basics/access/scopes.ts'
import { testApp } from '#test/support/app/test-app.ts'
import { type FormFile, form, modJar, projectData, versionData } from '#test/support/http/forms.ts'

const t = await testApp()
after(() => t.close())
const author = await t.make.account()

let count = 0
const slug = () => {
  count += 1
  return `made-${count}`
}

async function create(data: unknown, files: FormFile[] = [], person: { token: string } = author) {
  const { payload, headers } = await form(data, files)
  return t.as(person).post('/v3/project', payload, { headers })
}

/** Everything in the file store, staged uploads included. */
async function storedFiles(): Promise<string[]> {
  const folder = join(t.deps.config.dataDir, 'files')
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
}

describe('a project with a version and its file', () => {
  test('is 201 with the whole project, its creator is the owner of its team, and it waits for review', async () => {
    const own = slug()
    const answer = await create(
      projectData(own, {
        is_draft: false,
        initial_versions: [versionData()],
        link_urls: { issues: 'https://example.org/i' },
      }),
      [{ name: 'file', bytes: modJar(own) }],
    )
    assert.equal(answer.statusCode, 201, answer.body)
    const project = answer.json()
    assert.match(project.id, /^[0-9A-Za-z]{8}$/)
    assert.equal(project.status, 'processing')
    assert.equal(project.requested_status, 'approved')
    assert.notEqual(project.queued, null)
    assert.deepEqual(project.project_types, ['mod'])
    assert.deepEqual(project.loaders, ['fabric'])
    assert.deepEqual(project.game_versions, ['1.20.1'])
    assert.deepEqual(project.environment, ['unknown'])
    assert.deepEqual(project.license, { id: 'MIT', name: 'MIT License', url: null })
    assert.deepEqual(project.link_urls, {
      issues: { platform: 'issues', donation: false, url: 'https://example.org/i' },
    })
    assert.equal(project.versions.length, 1)
    assert.equal(typeof project.thread_id, 'string')
    const member = await t.deps.db
      .selectFrom('team_member')
      .selectAll()
      .where('team_id', '=', project.team_id)
      .executeTakeFirstOrThrow()
    assert.equal(member.account_id, author.id)
    assert.deepEqual(
      [member.role, member.is_owner, member.accepted, member.permissions, Number(member.payouts_split)],
      ['Owner', true, true, 1023, 100],
    )
    assert.equal(
      (await t.anyone.get(`/v3/project/${own}`)).statusCode,
      404,
      'hidden from strangers until it is approved',
    )
    assert.equal((await t.as(author).get(`/v3/project/${own}`)).statusCode, 200)
    const version = (await t.as(author).get(`/v3/version/${project.versions[0]}`)).json()
    assert.equal(version.files[0].primary, true)
    assert.equal(version.files[0].filename, 'file.jar')
  })

  test('is counted with its versions', async () => {
    const own = slug()
    const versions = [
      versionData({ file_parts: ['one'], primary_file: 'one' }),
      versionData({ version_number: '2', file_parts: ['two'], primary_file: 'two' }),
    ]
    t.deps.metrics.figures.take()
    const answer = await create(
      projectData(own, { initial_versions: versions }),
      ['one', 'two'].map((name) => ({ name, filename: `${name}.jar`, bytes: modJar(own + name) })),
    )
    assert.equal(answer.statusCode, 201, answer.body)
    const { counts } = t.deps.metrics.figures.take()
    assert.deepEqual([counts.get('project.created'), counts.get('version.published')], [1, 2])
  })

  test('takes the other names of keys that existing clients send', async () => {
    const own = slug()
    const { name, slug: _, summary, description, ...rest } = projectData(own)
    const answer = await create({
      ...rest,
      mod_name: name,
      mod_slug: own,
      mod_description: summary,
      mod_body: description,
    })
    assert.equal(answer.statusCode, 201, answer.body)
    assert.equal(answer.json().slug, own)
  })

  test('can have parts of any name, also of names that objects have', async () => {
    for (const part of ['constructor', '__proto__', 'toString']) {
      const own = slug()
      const data = projectData(own, { initial_versions: [versionData({ file_parts: [part] })] })
      const answer = await create(data, [{ name: part, filename: 'a.jar', bytes: modJar(own) }])
      assert.equal(answer.statusCode, 201, answer.body)
    }
  })

  test('of parallel requests for one slug a single one succeeds, and nothing of the others stays', async () => {
    const own = slug()
    const bytes = await (await import('sharp'))
      .default({ create: { width: 8, height: 8, channels: 3, background: '#00ff00' } })
      .png()
      .toBuffer()
    const before = await storedFiles()
    const data = projectData(own, {
      initial_versions: [versionData()],
      gallery_items: [{ item: 'g', featured: false }],
    })
    const answers = await Promise.all(
      ['a', 'b', 'c'].map((salt) =>
        create(data, [
          { name: 'file', bytes: modJar(own + salt) },
          { name: 'icon', filename: 'i.png', bytes },
          { name: 'g', filename: 'g.png', bytes },
        ]),
      ),
    )
    assert.deepEqual(answers.map(({ statusCode }) => statusCode).sort(), [201, 409, 409])
    const added = (await storedFiles()).filter((path) => !before.includes(path))
    const made = answers.find(({ statusCode }) => statusCode === 201)?.json()
    assert.ok(added.some((path) => path.includes('/pictures/')))
    assert.ok(added.every((path) => path.includes(`/${made.id}/`) || path.includes(`/${made.versions[0]}/`)))
    assert.deepEqual(await t.deps.db.selectFrom('upload_claim').selectAll().execute(), [])
  })

  test('with an icon and gallery images shows them', async () => {
    const own = slug()
    const picture = await (await import('sharp'))
      .default({ create: { width: 200, height: 100, channels: 3, background: '#ff0000' } })
      .png()
      .toBuffer()
    const answer = await create(
      projectData(own, { gallery_items: [{ item: 'shot', featured: true, title: 'A red field', description: 'Red' }] }),
      [
        { name: 'icon', filename: 'icon.png', bytes: picture },
        { name: 'shot', filename: 'shot.png', bytes: picture },
      ],
    )
    assert.equal(answer.statusCode, 201, answer.body)
    const project = answer.json()
    assert.equal(project.color, 0xff0000)
    assert.equal(project.gallery.length, 1)
    assert.equal(project.gallery[0].name, 'A red field')
    assert.equal(project.gallery[0].title, 'A red field')
    for (const url of [project.icon_url, project.raw_icon_url, project.gallery[0].url, project.gallery[0].raw_url]) {
      const bytes = await t.anyone.get(new URL(url).pathname)
      assert.equal(bytes.statusCode, 200, url)
      assert.match(String(bytes.headers['content-type']), /^image\//)
      assert.equal(bytes.headers['x-content-type-options'], 'nosniff')
    }
  })
})

describe('a draft without files', () => {
  test('can be sent as plain JSON', async () => {
    const own = slug()
    const answer = await t.as(author).post('/v3/project', projectData(own.toUpperCase()))
    assert.equal(answer.statusCode, 201, answer.body)
    assert.equal(answer.json().slug, own, 'slugs are stored in lower case')
    assert.equal(answer.json().status, 'draft')
    assert.deepEqual(answer.json().versions, [])
    assert.deepEqual(answer.json().project_types, [])
  })

  test('takes `arr` for all rights reserved', async () => {
    const answer = await t.as(author).post('/v3/project', projectData(slug(), { license_id: 'ARR' }))
    assert.equal(answer.json().license.id, 'LicenseRef-All-Rights-Reserved')
  })
})

describe('permissions', () => {
  test('requires a token before it reads the form', async () => {
    const { payload, headers } = await form(projectData(slug()))
    const answer = await t.anyone.post('/v3/project', payload, { headers })
    assert.equal(answer.statusCode, 401)
    assert.equal(answer.json().error, 'unauthorized')
    const unknown = await t.as({ token: 'dpp_nonsense' }).post('/v3/project', payload, { headers })
    assert.equal(unknown.statusCode, 401)
  })

  test('not a body that is empty', async () => {
    for (const headers of [{ 'content-type': 'application/json' }, {}]) {
      const answer = await t.as(author).post('/v3/project', undefined, { headers })
      assert.deepEqual([answer.statusCode, answer.json().error], [400, 'json_error'])
    }
  })

  test('not a token without PROJECT_CREATE', async () => {
    const token = await t.make.pat(author, ALL_SCOPES - 1024)
    const answer = await create(projectData(slug()), [], token)
    assert.equal(answer.statusCode, 403)
    assert.equal(answer.json().error, 'unauthorized')
    assert.match(answer.json().description, /PROJECT_CREATE/)
  })

  test('not an account beyond its quota, and of two at the last place one gets it', async () => {
    const person = await t.make.account()
    await t.deps.db.insertInto('quota_override').values({ account_id: person.id, projects: 1 }).execute()
    const answers = await Promise.all([slug(), slug()].map((own) => t.as(person).post('/v3/project', projectData(own))))
    assert.deepEqual(answers.map(({ statusCode }) => statusCode).sort(), [201, 400])
    assert.equal(answers.find(({ statusCode }) => statusCode === 400)?.json().error, 'LimitReached')
  })

  test('with SMTP, requires a verified email address', async () => {
    const strict = await testApp({ env: { REQUIRE_VERIFIED_EMAIL: 'true' } })
    try {
      const person = await strict.make.account({ email_verified: false })
      const answer = await strict.as(person).post('/v3/project', projectData(slug()))
      assert.equal(answer.statusCode, 403)
      assert.equal(answer.json().error, 'unauthorized')
    } finally {
      await strict.close()
    }
  })
})

describe('limits of the fields', () => {
  const text = (length: number) => 'a'.repeat(length)
  const accepted: [string, Record<string, unknown>][] = [
    ['name of 3', { name: 'abc' }],
    ['name of 64', { name: text(64) }],
    ['name of 64 characters beyond the basic plane', { name: '𝒜'.repeat(64) }],
    ['summary of 3', { summary: 'abc' }],
    ['summary of 256', { summary: text(256) }],
    ['empty description', { description: '' }],
    ['description of 65536', { description: text(65_536) }],
    ['no categories', { categories: [] }],
    ['3 categories', { categories: ['magic', 'mobs', 'food'] }],
    ['additional categories', { additional_categories: ['technology'] }],
    ['license_url null', { license_url: null }],
    ['link null', { link_urls: { issues: null, unknown_platform: null } }],
    ['an unknown key', { something_else: 5 }],
  ]
  for (const [what, fields] of accepted) {
    test(`${what} is accepted`, async () => {
      const answer = await t.as(author).post('/v3/project', projectData(slug(), fields))
      assert.equal(answer.statusCode, 201, answer.body)
    })
  }

  const refused: [string, string, Record<string, unknown>][] = [
    ['name of 2', 'name', { name: 'ab' }],
    ['name of 65', 'name', { name: text(65) }],
    ['name of 2 between spaces', 'name', { name: ' ab ' }],
    ['blank name', 'name', { name: '    ' }],
    ['name that is a number', 'name', { name: 12345 }],
    ['name null', 'name', { name: null }],
    ['no name', 'name', { name: undefined }],
    ['slug of 2', 'slug', { slug: 'ab' }],
    ['slug of 65', 'slug', { slug: text(65) }],
    ['slug with a space', 'slug', { slug: 'a b c' }],
    ['slug with a slash', 'slug', { slug: 'a/b' }],
    ['summary of 2', 'summary', { summary: 'ab' }],
    ['summary of 257', 'summary', { summary: text(257) }],
    ['description of 65537', 'description', { description: text(65_537) }],
    ['no description', 'description', { description: undefined }],
    ['4 categories', 'categories', { categories: ['magic', 'mobs', 'food', 'storage'] }],
    ['unknown category', 'categories.1', { categories: ['magic', 'no-such'] }],
    ['category that is not a string', 'categories.0', { categories: [1] }],
    ['257 additional categories', 'additional_categories', { additional_categories: Array(257).fill('magic') }],
    ['unknown additional category', 'additional_categories.0', { additional_categories: ['no-such'] }],
    ['unknown license', 'license_id', { license_id: 'NOT-A-LICENSE' }],
    ['deprecated license', 'license_id', { license_id: 'GPL-3.0' }],
    ['empty license', 'license_id', { license_id: '' }],
    ['license_url without https', 'license_url', { license_url: 'http://example.org' }],
    ['license_url of 2049', 'license_url', { license_url: `https://example.org/${text(2029)}` }],
    ['unknown platform', 'link_urls.nowhere', { link_urls: { nowhere: 'https://example.org' } }],
    ['link that is not https', 'link_urls.issues', { link_urls: { issues: 'javascript:alert(1)' } }],
    ['requested status that nobody may ask for', 'requested_status', { requested_status: 'rejected' }],
    ['unknown organization', 'organization_id', { organization_id: 'AAAAAAAA' }],
    ['organization that is not an ID', 'organization_id', { organization_id: '!!' }],
    ['33 versions', 'initial_versions', { initial_versions: Array(33).fill({}) }],
    ['no version for a review', 'initial_versions', { is_draft: false }],
    [
      'two featured images',
      'gallery_items.1.featured',
      {
        gallery_items: [
          { item: 'a', featured: true },
          { item: 'b', featured: true },
        ],
      },
    ],
    ['NUL in the summary', 'summary', { summary: 'abc\0def' }],
  ]
  for (const [what, field, fields] of refused) {
    test(`${what} is rejected, naming ${field}`, async () => {
      const before = await t.deps.db
        .selectFrom('project')
        .select((eb) => eb.fn.countAll<number>().as('n'))
        .executeTakeFirstOrThrow()
      const answer = await t.as(author).post('/v3/project', projectData(slug(), fields))
      assert.equal(answer.statusCode, 400, answer.body)
      assert.equal(answer.json().error, 'validation_error', answer.body)
      assert.equal(answer.json().details.field, field)
      const afterwards = await t.deps.db
        .selectFrom('project')
        .select((eb) => eb.fn.countAll<number>().as('n'))
        .executeTakeFirstOrThrow()
      assert.equal(afterwards.n, before.n)
    })
  }
})

describe('slugs', () => {
  test("that are taken, or equal a project's ID, are 409", async () => {
    const project = await t.make.project({ slug: 'already-there' })
    for (const taken of ['already-there', 'ALREADY-there', project.id, project.id.toLowerCase()]) {
      const answer = await t.as(author).post('/v3/project', projectData(taken))
      assert.equal(answer.statusCode, 409, taken)
      assert.equal(answer.json().error, 'conflict')
      assert.equal(answer.json().details.field, 'slug')
    }
  })

  test('requested by five users concurrently goes to one', async () => {
    const own = slug()
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => t.as(author).post('/v3/project', projectData(own))),
    )
    assert.deepEqual(answers.map(({ statusCode }) => statusCode).sort(), [201, 409, 409, 409, 409])
  })
})

describe('forms that cannot be', () => {
  const refusals: [string, () => Promise<{ data: unknown; files: FormFile[] }>, string][] = [
    ['without data', async () => ({ data: undefined, files: [{ name: 'file', bytes: modJar('x') }] }), 'data'],
    [
      'with a declared file missing',
      async () => ({ data: projectData(slug(), { initial_versions: [versionData()] }), files: [] }),
      'file',
    ],
    [
      'with a part that nothing names',
      async () => ({ data: projectData(slug()), files: [{ name: 'extra', bytes: modJar('y') }] }),
      'extra',
    ],
    [
      'with an unsafe file name',
      async () => ({
        data: projectData(slug(), { initial_versions: [versionData()] }),
        files: [{ name: 'file', filename: 'CON.jar', bytes: modJar('z') }],
      }),
      'file',
    ],
    [
      'with a file that is not an archive',
      async () => ({
        data: projectData(slug(), { initial_versions: [versionData()] }),
        files: [{ name: 'file', bytes: Buffer.from('not a zip') }],
      }),
      'file',
    ],
    [
      'with an icon that is not an image',
      async () => ({
        data: projectData(slug()),
        files: [{ name: 'icon', filename: 'icon.png', bytes: Buffer.from('not an image') }],
      }),
      'icon',
    ],
    [
      'with an icon over 262144 bytes',
      async () => ({
        data: projectData(slug()),
        files: [{ name: 'icon', filename: 'icon.png', bytes: Buffer.alloc(262_145) }],
      }),
      'icon',
    ],
  ]
  for (const [what, make, field] of refusals) {
    test(`${what}: 400 naming ${field}, and nothing stays behind`, async () => {
      const before = await storedFiles()
      const { data, files } = await make()
      const answer = await create(data, files)
      assert.equal(answer.statusCode, 400, answer.body)
      assert.equal(answer.json().error, 'invalid_input', answer.body)
      assert.equal(answer.json().details.field, field, answer.body)
      assert.deepEqual(await storedFiles(), before)
    })
  }

  test('using one part twice: 400', async () => {
    const answer = await create(
      projectData(slug(), { initial_versions: [versionData(), versionData({ version_number: '2' })] }),
      [{ name: 'file', bytes: modJar('q') }],
    )
    assert.equal(answer.statusCode, 400)
    assert.equal(answer.json().details.field, 'initial_versions.1.file_parts.0')
  })

  test('an error in a version names it', async () => {
    const answer = await create(projectData(slug(), { initial_versions: [versionData({ loaders: ['no-such'] })] }), [
      { name: 'file', bytes: modJar('w') },
    ])
    assert.equal(answer.statusCode, 400)
    assert.equal(answer.json().error, 'validation_error')
    assert.equal(answer.json().details.field, 'initial_versions.0.loaders.0')
  })
})
