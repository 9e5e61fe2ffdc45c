// Other users can read nothing below the data folder, also not what an earlier release left readable.
import assert from 'node:assert/strict'
import { chmodSync, lstatSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { depot, makeDataDir, startDepot } from '#test/support/processes/running-depot.ts'

const { dataDir, remove } = makeDataDir()
const backup = `${dataDir}.tar`
after(() => {
  remove()
  rmSync(backup, { force: true })
})

/** Every folder and file below the data folder; sockets and links have no content. */
function entries(): { path: string; isFolder: boolean; mode: number }[] {
  return readdirSync(dataDir, { recursive: true, encoding: 'utf8' }).flatMap((path) => {
    const stat = lstatSync(join(dataDir, path), { throwIfNoEntry: false })
    if (stat === undefined || !(stat.isDirectory() || stat.isFile())) return []
    return [{ path, isFolder: stat.isDirectory(), mode: stat.mode & 0o777 }]
  })
}

/** Copies of PostgreSQL's programs can be executed. */
const isPrivate = ({ path, isFolder, mode }: ReturnType<typeof entries>[number]): boolean =>
  mode === (isFolder ? 0o700 : 0o600) || (path.startsWith('postgresql-') && mode === 0o700)

function assertPrivate(): void {
  assert.deepEqual(
    entries()
      .filter((entry) => !isPrivate(entry))
      .map(({ path, mode }) => `${mode.toString(8)} ${path}`),
    [],
  )
  assert.equal((lstatSync(dataDir).mode & 0o777).toString(8), process.getuid?.() === 0 ? '711' : '700')
}

/** Uploads, downloads, searches, sends an email and backs up. */
async function use(): Promise<void> {
  const server = await startDepot(dataDir, { BASE_URL: 'https://depot.test' })
  try {
    const call = (path: string, init: RequestInit = {}): Promise<Response> =>
      fetch(server.url + path, { ...init, headers: { 'user-agent': 'depot-tests/1.0', ...init.headers } })
    const [person] = JSON.parse((await depot(dataDir, ['user', 'list', '--json'])).stdout).accounts
    const made = await depot(dataDir, ['token', 'create', '--user', person.username, '--scopes', 'all', '--json'])
    const { token } = JSON.parse(made.stdout)
    const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"><rect width="8" height="8"/></svg>'
    const headers = { authorization: token, 'content-type': 'image/svg+xml' }
    const sent = await call(`/v3/user/${person.id}/icon?ext=svg`, { method: 'PATCH', body: svg, headers })
    assert.equal(sent.status, 204, await sent.text())
    while (!(await call('/v3/search')).ok) await call('/ready')
    const { hits } = (await (await call('/v3/search')).json()) as { hits: { project_id: string }[] }
    const versions = (await (await call(`/v3/project/${hits[0]?.project_id}/version`)).json()) as {
      files: { url: string }[]
    }[]
    const file = await call(new URL(versions[0]?.files[0]?.url ?? '').pathname)
    assert.equal(file.status, 200)
    await file.bytes()
    const backedUp = await depot(dataDir, ['backup', backup])
    assert.equal(backedUp.code, 0, backedUp.stderr)
    rmSync(backup)
    assertPrivate()
  } finally {
    await server.stop()
  }
}

test('folders are 0700 and files 0600 after uploads, downloads, searches and a backup, also those that were readable', async () => {
  const seeded = await depot(dataDir, ['seed', '--projects', '3'])
  assert.equal(seeded.code, 0, seeded.stderr)
  assertPrivate()
  await use()
  assertPrivate()
  const before = entries().filter(({ path }) => !path.startsWith('postgres'))
  for (const name of ['analytics/events.duckdb', 'search/0/index'])
    assert.ok(
      before.some(({ path }) => path === name),
      name,
    )
  for (const { path, isFolder } of before) chmodSync(join(dataDir, path), isFolder ? 0o755 : 0o644)
  await use()
  assertPrivate()
})
