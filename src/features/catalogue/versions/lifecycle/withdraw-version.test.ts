// Withdrawn versions: they stay in lists, hash lookups and downloads; everything that chooses a version skips them.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, describe, test } from 'node:test'
import { newId } from '#lib/ids.ts'
import { testApp } from '#test/support/app/test-app.ts'
import type { MadeProject, Person } from '#test/support/factories/factories.ts'
import { assertError } from '#test/support/http/account-steps.ts'

const t = await testApp()
after(() => t.close())
const moderator = await t.make.account({ role: 'moderator' })

type World = { project: MadeProject; old: string; last: string; hash: string; sha512: string }

/** A project with two versions of the same loader. The hash is that of the older version's file. */
async function world(): Promise<World> {
  const project = await t.make.project()
  const make = async (number: string, day: number) => {
    const date_published = new Date(Date.UTC(2026, 0, day))
    const version = await t.make.version({ project, version_number: number, date_published, loaders: ['fabric'] })
    return { version, file: await t.make.file({ version, project, bytes: randomBytes(16) }) }
  }
  const [old, last] = [await make('1.0', 1), await make('2.0', 2)]
  return { project, old: old.version.id, last: last.version.id, hash: old.file.sha1, sha512: last.file.sha512 }
}

const REASON = { kind: 'broken', reason: 'Deletes worlds' } as const

const withdraw = (by: Person, id: string, withdrawn: unknown = REASON) =>
  t.as(by).patch(`/v3/version/${id}`, { withdrawn })

async function withdrawn(by: Person, id: string, value: unknown = REASON): Promise<void> {
  const answer = await withdraw(by, id, value)
  assert.equal(answer.statusCode, 204, answer.body)
}

const read = async (path: string) => {
  const answer = await t.anyone.get(path)
  assert.equal(answer.statusCode, 200, `${path} ${answer.body}`)
  return answer.json()
}
const idsOf = (list: { id: string }[]) => list.map(({ id }) => id)

describe('withdrawing', () => {
  test('sets the key with the reason and the replacement, raises the revision, and null removes it', async () => {
    const { project, old, last } = await world()
    const before = await read(`/v3/version/${last}`)
    assert.ok(!('withdrawn' in before))
    await withdrawn(project.owner, last, { ...REASON, reason: `  ${REASON.reason} `, replacement: old })
    const after = await read(`/v3/version/${last}`)
    assert.deepEqual(after.withdrawn, { ...REASON, replacement: old })
    assert.ok(after.revision > before.revision)
    await withdrawn(project.owner, last, { kind: 'security', reason: 'Known hole', replacement: null })
    assert.deepEqual((await read(`/v3/version/${last}`)).withdrawn, { kind: 'security', reason: 'Known hole' })
    await withdrawn(project.owner, last, null)
    assert.ok(!('withdrawn' in (await read(`/v3/version/${last}`))))
    assert.equal((await withdraw(project.owner, last, null)).statusCode, 204, 'undoing twice')
  })

  test('needs UPLOAD_VERSION or a moderator; strangers and members without it get 403', async () => {
    const { project, last } = await world()
    const [stranger, viewer] = [await t.make.account(), await t.make.account()]
    await t.make.member({ teamId: project.teamId, accountId: viewer.id, permissions: 0 })
    for (const person of [stranger, viewer]) assertError(await withdraw(person, last), 403, 'unauthorized')
    assertError(await t.anyone.patch(`/v3/version/${last}`, { withdrawn: REASON }), 401, 'unauthorized')
    await withdrawn(moderator, last)
  })

  test('rejects a bad value and names the field; nothing is saved', async () => {
    const { project, old, last } = await world()
    const other = await world()
    const bad: [unknown, string][] = [
      ['broken', 'withdrawn'],
      [{ kind: 'angry', reason: 'x' }, 'withdrawn.kind'],
      [{ kind: 'broken' }, 'withdrawn.reason'],
      [{ kind: 'broken', reason: '' }, 'withdrawn.reason'],
      [{ kind: 'broken', reason: '  ' }, 'withdrawn.reason'],
      [{ kind: 'broken', reason: 'x'.repeat(501) }, 'withdrawn.reason'],
      [{ ...REASON, replacement: last }, 'withdrawn.replacement'],
      [{ ...REASON, replacement: other.old }, 'withdrawn.replacement'],
      [{ ...REASON, replacement: '!!' }, 'withdrawn.replacement'],
      [{ ...REASON, replacement: 'zzzzzzzz' }, 'withdrawn.replacement'],
    ]
    for (const [value, field] of bad) {
      const answer = await withdraw(project.owner, last, value)
      assertError(answer, 400, 'validation_error')
      assert.equal(answer.json().details.field, field, JSON.stringify(value))
    }
    await withdrawn(project.owner, old)
    const answer = await withdraw(project.owner, last, { ...REASON, replacement: old })
    assert.equal(answer.json().details.field, 'withdrawn.replacement')
    assert.ok(!('withdrawn' in (await read(`/v3/version/${last}`))))
    await withdrawn(project.owner, last, { kind: 'legal', reason: 'x'.repeat(500) })
  })

  test('a draft cannot be withdrawn; a withdrawn version can become a draft', async () => {
    const { project, last } = await world()
    const draft = await t.make.version({ project, status: 'draft' })
    const answer = await withdraw(project.owner, draft.id)
    assert.deepEqual([answer.statusCode, answer.json().details.field], [400, 'withdrawn'])
    await withdrawn(project.owner, last)
    assert.equal((await t.as(project.owner).patch(`/v3/version/${last}`, { status: 'draft' })).statusCode, 204)
  })

  test('writes one audit entry per change, and notifies the other members once', async () => {
    const { project, last } = await world()
    const helper = await t.make.account()
    await t.make.member({ teamId: project.teamId, accountId: helper.id })
    await withdrawn(moderator, last)
    await withdrawn(moderator, last)
    await withdrawn(project.owner, last, { ...REASON, reason: 'Also deletes cats' })
    await withdrawn(project.owner, last, null)
    const rows = await t.deps.db
      .selectFrom('audit_entry')
      .select(['action', 'details'])
      .where('subject_id', '=', last)
      .orderBy('id')
      .execute()
    assert.deepEqual(
      rows.map(({ action }) => action),
      ['version.withdrawn', 'version.withdrawn', 'version.restored'],
    )
    assert.deepEqual(rows[0]?.details, { project: project.id, version_number: '2.0', ...REASON, replacement: null })
    for (const person of [project.owner, helper]) {
      const list = (await t.as(person).get(`/v3/user/${person.id}/notifications`)).json()
      assert.deepEqual(
        list.map(({ body }: { body: unknown }) => body),
        [{ type: 'version_withdrawn', project_id: project.id, version_id: last }],
      )
    }
  })

  test('records the event of a new withdrawal once, and later changes as updates', async () => {
    const { project, last } = await world()
    await t.deps.db
      .insertInto('webhook')
      .values({
        id: newId(),
        owner_kind: 'instance',
        url: 'https://hooks.example/',
        host: 'hooks.example',
        format: 'standard',
        events: ['*'],
        secret: Buffer.from('sealed'),
        active: true,
      })
      .execute()
    await withdrawn(project.owner, last)
    await withdrawn(project.owner, last)
    await withdrawn(project.owner, last, { ...REASON, kind: 'security' })
    await withdrawn(project.owner, last, null)
    const rows = await t.deps.db.selectFrom('event').select(['kind', 'data']).where('version_id', '=', last).execute()
    const ids = { project_id: project.id, version_id: last }
    assert.deepEqual(rows, [
      { kind: 'version.withdrawn', data: { ...ids, ...REASON, replacement: null } },
      { kind: 'version.updated', data: { ...ids, fields: ['withdrawn'] } },
      { kind: 'version.updated', data: { ...ids, fields: ['withdrawn'] } },
    ])
  })

  test('parallel withdrawals and undoings leave one of the states', async () => {
    const { project, last } = await world()
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, n) => withdraw(project.owner, last, n % 2 === 0 ? REASON : null)),
    )
    assert.ok(answers.every(({ statusCode }) => statusCode === 204))
    const row = await t.deps.db.selectFrom('version').selectAll().where('id', '=', last).executeTakeFirstOrThrow()
    assert.equal((await read(`/v3/version/${last}`)).withdrawn === undefined, row.withdrawn_at === null)
  })

  test('two versions cannot replace each other, also not in parallel', async () => {
    const { project, old, last } = await world()
    const answers = await Promise.all([
      withdraw(project.owner, old, { ...REASON, replacement: last }),
      withdraw(project.owner, last, { ...REASON, replacement: old }),
    ])
    assert.deepEqual(answers.map(({ statusCode }) => statusCode).sort(), [204, 400])
  })

  test('a deleted replacement is no longer named', async () => {
    const { project, old, last } = await world()
    await withdrawn(project.owner, old, { ...REASON, replacement: last })
    assert.equal((await read(`/v3/version/${old}`)).withdrawn.replacement, last)
    assert.equal((await t.as(project.owner).delete(`/v3/version/${last}`)).statusCode, 204)
    assert.deepEqual((await read(`/v3/version/${old}`)).withdrawn, REASON)
  })

  test('a dry run checks it and changes nothing', async () => {
    const { project, last } = await world()
    const answer = await t.as(project.owner).patch(`/v3/version/${last}?dry_run=true`, { withdrawn: REASON })
    assert.equal(answer.statusCode, 200, answer.body)
    assert.equal(answer.json().valid, true)
    const bad = await t
      .as(project.owner)
      .patch(`/v3/version/${last}?dry_run=true`, { withdrawn: { ...REASON, kind: '' } })
    assert.equal(bad.json().details.field, 'withdrawn.kind')
    assert.ok(!('withdrawn' in (await read(`/v3/version/${last}`))))
  })
})

describe('a withdrawn version', () => {
  test('stays in lists, hash lookups and downloads', async () => {
    const { project, old, last, sha512 } = await world()
    await withdrawn(project.owner, last)
    assert.deepEqual(idsOf(await read(`/v3/project/${project.id}/version`)), [last, old])
    assert.deepEqual(idsOf(await read(`/v3/project/${project.id}/version?limit=1`)), [last])
    assert.deepEqual((await read(`/v3/project/${project.id}`)).versions, [old, last])
    const version = await read(`/v3/version_file/${sha512}`)
    assert.deepEqual([version.id, version.withdrawn], [last, REASON])
    const found = (await t.anyone.post('/v3/version_files', { hashes: [sha512], algorithm: 'sha512' })).json()
    assert.deepEqual(found[sha512].withdrawn, REASON)
    assert.equal((await t.anyone.get(new URL(version.files[0].url).pathname)).statusCode, 200)
  })

  test('is skipped by every update check, in both APIs; without another version there is no update', async () => {
    const { project, old, last, hash } = await world()
    const check = async () => {
      const found = new Set<string | undefined>()
      for (const prefix of ['/v3', '/v2']) {
        const body = { loaders: ['fabric'], game_versions: [] }
        const single = await t.anyone.post(`${prefix}/version_file/${hash}/update`, body)
        found.add(single.statusCode === 404 ? undefined : single.json().id)
        for (const path of ['version_files/update', 'version_files/update_many', 'version_files/update_individual']) {
          const hashes = path.endsWith('individual') ? [{ hash, ...body }] : [hash]
          const many = await t.anyone.post(`${prefix}/${path}`, { hashes, algorithm: 'sha1', ...body })
          assert.equal(many.statusCode, 200, `${prefix}/${path} ${many.body}`)
          const update = many.json()[hash]
          found.add((Array.isArray(update) ? update[0] : update)?.id)
        }
      }
      const query = await t.anyone.get(`/v3/version_file/${hash}/update`)
      found.add(query.statusCode === 404 ? undefined : query.json().id)
      assert.equal(found.size, 1, JSON.stringify([...found]))
      return [...found][0]
    }
    assert.equal(await check(), last)
    await withdrawn(project.owner, last)
    assert.equal(await check(), old)
    await withdrawn(project.owner, old)
    assert.equal(await check(), undefined)
    await withdrawn(project.owner, last, null)
    assert.equal(await check(), last)
  })

  test('has no key in the v2 API', async () => {
    const { project, last } = await world()
    await withdrawn(project.owner, last)
    assert.ok(!('withdrawn' in (await read(`/v2/version/${last}`))))
    const [first] = await read(`/v2/project/${project.id}/version`)
    assert.deepEqual([first.id, 'withdrawn' in first], [last, false])
  })

  test('is not featured, chosen by hand or by Depot', async () => {
    const { project, old, last } = await world()
    const featured = async () => idsOf(await read(`/v3/project/${project.id}/version?featured=true`))
    await withdrawn(project.owner, last)
    assert.deepEqual(await featured(), [old])
    for (const id of [old, last]) await t.as(project.owner).patch(`/v3/version/${id}`, { featured: true })
    assert.deepEqual(await featured(), [old])
    await t.as(project.owner).patch(`/v3/version/${old}`, { featured: false })
    assert.deepEqual(await featured(), [old], 'the choice of Depot replaces that of the publisher')
  })

  test('is not chosen for archives, but can be named', async () => {
    const { project: library, old, last } = await world()
    const app = await t.make.project()
    const version = await t.make.version({ project: app, loaders: ['fabric'] })
    await t.make.file({ version, project: app, bytes: randomBytes(16), filename: 'app.jar' })
    const depend = async (named: object) => {
      const dependencies = [{ dependency_type: 'required', ...named }]
      const answer = await t.as(app.owner).patch(`/v3/version/${version.id}`, { dependencies })
      assert.equal(answer.statusCode, 204, answer.body)
    }
    const archived = async () => {
      const answer = await t.anyone.get(`/v3/version/${version.id}/archive?dependencies=true`)
      assert.equal(answer.statusCode, 200, answer.body)
      return (answer.headers['etag'] ?? '').toString()
    }
    await depend({ project_id: library.id })
    const newest = await archived()
    await withdrawn(library.owner, last)
    const skipped = await archived()
    assert.notEqual(skipped, newest)
    await depend({ version_id: last })
    assert.notEqual(await archived(), skipped)
    await depend({ version_id: old })
    assert.equal(await archived(), skipped)
  })

  test('is not named by hits; a project of withdrawn versions is found and its hit names none', async () => {
    const { project, old, last } = await world()
    const hit = async (facets = '') => {
      await t.searchable()
      const { hits } = await read(`/v3/search?limit=100${facets}`)
      return hits.find(({ project_id }: { project_id: string }) => project_id === project.id)
    }
    const byLoader = `&new_filters=${encodeURIComponent('categories = "fabric"')}`
    assert.equal((await hit()).version_id, last)
    await withdrawn(project.owner, last)
    assert.deepEqual([(await hit()).version_id, (await hit(byLoader)).version_id], [old, old])
    await withdrawn(project.owner, old)
    assert.deepEqual([(await hit()).version_id, (await hit(byLoader)).latest_version], [null, null])
    assert.deepEqual((await hit()).loaders, ['fabric'])
    await withdrawn(project.owner, last, null)
    assert.equal((await hit()).version_id, last)
  })

  test('is not an entry of a feed of releases', async () => {
    const { project, old, last } = await world()
    await withdrawn(project.owner, last)
    const items = (await read(`/mod/${project.slug}/versions.json`)).items as { id: string }[]
    assert.equal(items.length, 1)
    assert.ok(items[0]?.id.endsWith(old) && !items[0].id.endsWith(last))
  })

  test('is not the latest of build tools, which still find it by its coordinate', async () => {
    const { project, last } = await world()
    await withdrawn(project.owner, last)
    const metadata = (await t.anyone.get(`/maven/maven/group/${project.slug}/maven-metadata.xml`)).body
    assert.match(metadata, /<latest>1\.0<\/latest>\s*<release>1\.0<\/release>/)
    assert.match(metadata, /<version>2\.0<\/version>/)
    const pom = await t.anyone.get(`/maven/maven/group/${project.slug}/2.0/${project.slug}-2.0.pom`)
    assert.equal(pom.statusCode, 200)
    const { promos } = await read(`/updates/${project.slug}/fabric_updates.json`)
    assert.deepEqual(new Set(Object.values(promos)), new Set(['1.0']))
  })

  test('is a change of the change feed, and stays present', async () => {
    const { project, last } = await world()
    await t.runJobs()
    const all = async (since?: string) => {
      const query = since === undefined ? '' : `&since=${since}`
      return read(`/v3/changes?limit=1000${query}`)
    }
    const { next } = await all()
    await withdrawn(project.owner, last)
    const { changes } = await all(next)
    const mine = changes.find(({ id }: { id: string }) => id === last)
    assert.deepEqual([mine?.kind, mine?.state], ['version', 'present'])
  })
})
