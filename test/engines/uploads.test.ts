// An upload whose requests reach two servers in turn, with one S3 store and one database: connections are cut, and one of
// the servers is killed between two parts.
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { after, test } from 'node:test'
import { testDatabase } from '#test/support/app/database.ts'
import { startEngine } from '#test/support/engines/engine.ts'
import { modJar, projectData, versionData } from '#test/support/http/forms.ts'
import { startCuttingProxy, uploadByTus } from '#test/support/http/tus-steps.ts'
import { depot, makeDataDir, startDepot } from '#test/support/processes/running-depot.ts'

const undo = new AsyncDisposableStack()
after(() => undo.disposeAsync())
const s3 = await startEngine('s3')

test('two servers receive one upload, and one of them is killed', { skip: typeof s3 === 'string' && s3 }, async () => {
  if (typeof s3 === 'string') return
  undo.defer(() => s3.remove())
  const database = await testDatabase()
  undo.defer(() => database.close())
  const env = { DATABASE_URL: database.connectionString, LOG_LEVEL: 'warn', ...s3.settings }
  const folders = [makeDataDir(), makeDataDir()]
  undo.defer(() => {
    for (const { remove } of folders) remove()
  })
  const [one, other] = await Promise.all(folders.map(({ dataDir }) => startDepot(dataDir, env)))
  undo.defer(() => Promise.all([one?.stop('SIGKILL'), other?.stop('SIGKILL')]).then(() => undefined))
  const [{ dataDir } = { dataDir: '' }] = folders
  const user = ['--username', 'mira', '--email', 'mira@example.org', '--password', 'violet-harbour-lantern-42']
  await depot(dataDir, ['user', 'create', ...user, '--role', 'admin'], env)
  const { stdout } = await depot(dataDir, ['token', 'create', '--user', 'mira', '--scopes', 'all'], env)
  const token = stdout.trim()
  const post = async (path: string, body: unknown) => {
    const headers = { 'user-agent': 'depot-test', authorization: token, 'content-type': 'application/json' }
    const answer = await fetch((other?.url ?? '') + path, { method: 'POST', headers, body: JSON.stringify(body) })
    assert.equal(answer.status, 201)
    return (await answer.json()) as { id: string; files: { url: string; hashes: { sha512: string } }[] }
  }

  const bytes = modJar('servers', [{ name: 'noise.bin', data: randomBytes(3_000_000), stored: true }])
  const proxy = await startCuttingProxy([one?.url ?? '', other?.url ?? ''], { cuts: 8, maxBytes: 400_000 })
  undo.defer(() => proxy.close())
  let parts = 0
  const onPart = () => {
    parts += 1
    if (parts === 4) void one?.stop('SIGKILL')
  }
  const id = await uploadByTus(proxy.url, { token, bytes, filename: 'servers.jar', chunkSize: 300_000, onPart })
  assert.ok(proxy.cuts() > 0, 'No connection was cut')

  const project = await post('/v3/project', projectData('servers'))
  const version = await post('/v3/version', { ...versionData(), project_id: project.id, file_parts: [`upload:${id}`] })
  assert.equal(version.files[0]?.hashes.sha512, createHash('sha512').update(bytes).digest('hex'))
  const path = new URL(version.files[0]?.url ?? '').pathname
  const file = await fetch((other?.url ?? '') + path, { headers: { 'user-agent': 'depot-test', authorization: token } })
  assert.ok(Buffer.from(await file.arrayBuffer()).equals(bytes))
})
