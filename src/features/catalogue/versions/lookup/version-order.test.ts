// The newest version of a project: by date, or by number if its members choose so. All places agree.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sql } from 'kysely'
import { testApp } from '#test/support/app/test-app.ts'
import { assertError } from '#test/support/http/account-steps.ts'
import { assertLeads, assertSays, visitor } from '#test/support/http/visitor.ts'

const t = await testApp()
after(() => t.close())

test('numbers of versions are compared by their parts, and test versions come before their release', async () => {
  const ascending = [
    [
      '1.0-alpha',
      '1.0-beta',
      '1.0-beta.2',
      '1.0-rc.1',
      '1.0',
      '1.0.1',
      '1.9',
      '1.10',
      '1.10a',
      '1.10-1',
      '2.0-SNAPSHOT',
      'v2.0',
    ],
    ['mc1.20.1-0.9', 'mc1.20.1-0.10', 'mc1.21-0.1'],
    ['1', '99999999999999999999', '100000000000000000000'],
  ]
  for (const numbers of ascending) {
    const { rows } = await sql<{ number: string }>`
      select number from unnest(${numbers.toReversed()}::text[]) number order by version_number_key(number) collate "C"`.execute(
      t.deps.db,
    )
    assert.deepEqual(
      rows.map(({ number }) => number),
      numbers,
    )
  }
  const { rows } = await sql<{ isSame: boolean }>`
    select version_number_key('1.02+fabric') = version_number_key('v1.2+forge') as "isSame"`.execute(t.deps.db)
  assert.deepEqual(rows, [{ isSame: true }])
})

test('a project can choose the version with the highest number, and every place follows', async () => {
  const owner = await t.make.account()
  const project = await t.make.project({ owner, slug: 'ordered', name: 'Ordered' })
  const make = async (version_number: string, hoursAgo: number) => {
    const date_published = new Date(t.deps.now() - hoursAgo * 3_600_000)
    const version = await t.make.version({ project, version_number, date_published })
    const file = await t.make.file({ project, version, bytes: Buffer.from(version_number) })
    return { ...version, sha512: file.sha512 }
  }
  const high = await make('2.10.0', 3)
  const beta = await make('2.10.1-beta', 2)
  const fix = await make('2.9.4', 1)
  await t.as(owner).post(`/v3/project/${project.id}/follow`)
  const places = async (): Promise<unknown[]> => {
    await t.searchable()
    const [list, [hit], update, follows, file] = [
      (await t.anyone.get(`/v3/project/${project.id}/version`)).json(),
      (await t.anyone.get('/v3/search?query=ordered')).json().hits,
      (await t.anyone.post(`/v3/version_file/${high.sha512}/update?algorithm=sha512`, {})).json(),
      (await visitor(t, owner.token).get('/dashboard/follows')).body,
      (await t.anyone.get('/mod/ordered/download')).headers.location,
    ]
    const [first] = list
    assert.match((await t.anyone.get('/mod/ordered')).body, new RegExp(`<b>[^<]*<bdi>${first.version_number}</bdi>`))
    assert.ok(follows.includes(`>${first.version_number}<`), 'the followed projects')
    assert.ok(file?.includes(first.id))
    return [...list.map(({ id }: { id: string }) => id), hit.version_id, update.id]
  }
  const byDate = [fix.id, beta.id, high.id, fix.id, fix.id]
  assert.deepEqual(await places(), byDate)

  const settings = '/mod/ordered/settings/visibility'
  const person = visitor(t, owner.token)
  assertLeads(
    await person.sendFrom(await person.get(settings), settings, {
      status: 'approved',
      public_statistics: 'on',
      monetized: 'on',
      by_number: 'on',
    }),
    `${settings}?done=saved`,
  )
  assert.equal((await t.anyone.get(`/v3/project/${project.id}`)).json().version_order, 'number')
  assert.deepEqual(await places(), [beta.id, high.id, fix.id, beta.id, beta.id])
  assertSays(await person.get(settings), 200, /name="by_number"[^>]*checked|checked[^>]*name="by_number"/)

  // New and renamed versions take their place.
  const renamed = await t.as(owner).patch(`/v3/version/${fix.id}`, { version_number: '2.11.0' })
  assert.equal(renamed.statusCode, 204, renamed.body)
  assert.equal((await places())[0], fix.id)
  const next = await make('2.12', 5)
  assert.equal((await places())[0], next.id)

  assert.equal((await t.as(owner).patch(`/v3/project/${project.id}`, { version_order: 'date' })).statusCode, 204)
  assert.deepEqual((await places()).slice(0, 4), [fix.id, beta.id, high.id, next.id])
  assertError(
    await t.as(owner).patch(`/v3/project/${project.id}`, { version_order: 'size' }),
    400,
    'validation_error',
    'version_order',
  )
})
