// New game versions come from the manifest of the game.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { ADMIN_KEY, testApp } from '#test/support/app/test-app.ts'
import { assertError } from '#test/support/http/account-steps.ts'
import { startReceiver } from '#test/support/stand-ins/receiver.ts'

const service = await startReceiver()
const t = await testApp({ env: { GAME_VERSIONS_URL: `${service.url}/manifest.json` } })
after(async () => {
  await t.close()
  service.close()
})

const KEY = { headers: { 'x-admin-key': ADMIN_KEY } }
const LIST = '/_internal/admin/tags/game_versions'
type Row = { value: string; created: string; metadata?: object; hidden?: boolean }
const readList = async (): Promise<Row[]> =>
  (await t.anyone.get('/_internal/admin/tags', KEY))
    .json()
    .game_versions.rows.map(({ uses: _, ...row }: Row & object & { uses: number }) => row)
const answer = (body: unknown, status = 200) =>
  service.answer((_received, res) => void res.writeHead(status).end(JSON.stringify(body)))
const entry = (id: string, type: string, releaseTime: string) => ({ id, type, releaseTime, url: 'ignored' })
const dayAfter = (days: number) => new Date(t.deps.now() + days * 86_400_000).toISOString()

test('versions that are newer than the list are added, newest first, once', async () => {
  const before = await readList()
  answer({
    latest: { release: '99.1', snapshot: '99.2-snapshot-1' },
    versions: [
      entry('99.2-snapshot-1', 'snapshot', dayAfter(-1)),
      entry('99.1.1', 'release', dayAfter(-2)),
      entry('99.1', 'release', dayAfter(-3)),
      // Known, older than the list, in the future, and not readable.
      entry(before[0]?.value ?? '', 'release', dayAfter(-1)),
      entry('1.21.4-rc3', 'snapshot', '2024-11-29T12:00:00+00:00'),
      entry('99.9', 'release', dayAfter(9)),
      entry('99.3', 'experiment', dayAfter(-1)),
      entry('99.4', 'release', 'soon'),
      'nothing',
    ],
  })
  await t.runJob('tags.read-game-versions')
  const added = (await readList()).slice(0, -before.length)
  assert.deepEqual(
    added.map(({ value, metadata }) => [value, metadata]),
    [
      ['99.2-snapshot-1', { type: 'snapshot', major: false }],
      ['99.1.1', { type: 'release', major: false }],
      ['99.1', { type: 'release', major: true }],
    ],
  )
  assert.deepEqual((await readList()).slice(added.length), before)
  const { values } = (await t.anyone.get('/v3/loader_field?loader_field=game_versions')).json()
  assert.equal(values[0].value, '99.2-snapshot-1')
  const { entries } = (await t.anyone.get('/_internal/admin/audit-log?action=tags.changed', KEY)).json()
  assert.deepEqual(
    [entries[0].actor.kind, entries[0].details],
    ['system', { list: 'game_versions', added: ['99.2-snapshot-1', '99.1.1', '99.1'], removed: [] }],
  )
  await t.runJob('tags.read-game-versions')
  assert.equal((await t.anyone.get('/_internal/admin/audit-log?action=tags.changed', KEY)).json().entries.length, 1)
})

test('a version that an operator has removed or hidden stays so', async () => {
  const [newest, second, third, ...rows] = await readList()
  assert.equal(third?.value, '99.1')
  const body = {
    rows: [newest, { ...second, hidden: true }, ...rows].map((row) =>
      row?.hidden === false ? { ...row, hidden: undefined } : row,
    ),
  }
  assert.equal((await t.anyone.put(LIST, body, KEY)).statusCode, 204)
  await t.runJob('tags.read-game-versions')
  const now = await readList()
  assert.deepEqual([now[1]?.value, now[1]?.hidden], ['99.1.1', true])
  assert.ok(now.every(({ value }) => value !== '99.1'))
})

test('a removed or renamed version does not return, also if it was the newest one', async () => {
  const [newest] = await readList()
  assert.equal(newest?.value, '99.2-snapshot-1')
  assert.equal((await t.anyone.delete(`${LIST}/values/99.2-snapshot-1`, undefined, KEY)).statusCode, 204)
  const renamed = { from: '99.1.1', to: '99.1.1-final' }
  assert.equal((await t.anyone.post(`${LIST}/rename`, renamed, KEY)).statusCode, 204)
  await t.runJob('tags.read-game-versions')
  assert.deepEqual(
    (await readList()).slice(0, 1).map(({ value }) => value),
    ['99.1.1-final'],
  )
})

test('a version that an operator has added before the manifest lists it hides no other one', async () => {
  assert.equal((await t.anyone.delete(LIST, undefined, KEY)).statusCode, 204)
  const row = { value: '98.1', created: dayAfter(0) }
  assert.equal((await t.anyone.post(`${LIST}/values`, row, KEY)).statusCode, 204)
  answer({
    versions: [
      entry('98.1', 'release', dayAfter(-2)),
      entry('98.1-rc2', 'snapshot', dayAfter(-3)),
      entry('98.2-snapshot-1', 'snapshot', dayAfter(-1)),
    ],
  })
  const read = await t.anyone.post(`${LIST}/read`, undefined, KEY)
  assert.deepEqual([read.statusCode, read.json()], [200, { added: ['98.2-snapshot-1'] }])
  const listed = (await readList()).slice(0, 2)
  assert.deepEqual(
    listed.map(({ value, created }) => [value, created]),
    [
      ['98.2-snapshot-1', listed[0]?.created],
      ['98.1', row.created],
    ],
  )
  const { entries } = (await t.anyone.get('/_internal/admin/audit-log?action=tags.changed', KEY)).json()
  assert.equal(entries[0].actor.kind, 'operator')
})

test('the overview warns when the manifest could not be read for 2 days', async () => {
  const codes = async () =>
    (await t.anyone.get('/_internal/admin/overview', KEY)).json().problems.map(({ code }: { code: string }) => code)
  answer({}, 500)
  const failed = await t.anyone.post(`${LIST}/read`, undefined, KEY)
  assertError(failed, 400, 'invalid_input')
  assert.match(failed.json().description, /^The manifest cannot be read\. The response has the status 500/)
  await assert.rejects(t.runJob('tags.read-game-versions'))
  assert.ok(!(await codes()).includes('manifest_failing'))
  t.advance(2 * 86_400_000)
  assert.ok((await codes()).includes('manifest_failing'))
  await assert.rejects(t.runJob('tags.read-game-versions'))
  const { problems } = (await t.anyone.get('/_internal/admin/overview', KEY)).json()
  const { values } = problems.find(({ code }: { code: string }) => code === 'manifest_failing')
  assert.deepEqual(values, { days: 2, reason: 'The response has the status 500' })
  answer({ versions: [] })
  await t.runJob('tags.read-game-versions')
  assert.ok(!(await codes()).includes('manifest_failing'))
})

test('an error of the service and another document change nothing and fail the job', async () => {
  const before = await readList()
  const tooMany = Array.from({ length: 10_000 }, (_, n) => entry(`100.${n}`, 'release', dayAfter(0)))
  for (const [body, status, reason] of [
    [{}, 500, /status 500/],
    [{ versions: {} }, 200, /GAME_VERSIONS_URL must lead to an object with a list/],
    ['x'.repeat(9 * 1024 * 1024), 200, /large/],
    [{ versions: tooMany }, 200, /10000 new versions, which is more than the list can have/],
  ] as const) {
    answer(body, status)
    await assert.rejects(t.runJob('tags.read-game-versions'), reason)
  }
  assert.deepEqual(await readList(), before)
})
