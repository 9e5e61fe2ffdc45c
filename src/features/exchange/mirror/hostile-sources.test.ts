// Sources that lie, never end, repeat themselves or stop halfway.
import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { after, afterEach, before, beforeEach, test } from 'node:test'
import { sql } from 'kysely'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import { type Mirroring, mirroringApp } from '#test/support/factories/mirror-factories.ts'
import { type StandInSource, sendFile, standInSource } from '#test/support/stand-ins/mirror-source.ts'
import { nextTarget } from './source/source.ts'

let t: TestApp
let source: StandInSource
let mirror: Mirroring
before(async () => {
  t = await testApp()
})
after(() => t.close())
beforeEach(async () => {
  source = await standInSource()
  mirror = await mirroringApp(source.address, t)
})
afterEach(async () => {
  await source.close()
  // No run leaves files behind.
  assert.deepEqual(await staged(), [])
  assert.deepEqual(await t.deps.db.selectFrom('upload_claim').selectAll().execute(), [])
})

async function staged(): Promise<string[]> {
  const folder = join(t.deps.config.dataDir, 'files', 'staging')
  return readdir(folder)
}

let count = 0
/** IDs that no other test of this file has used. */
const newIds = (n: number): string[] =>
  Array.from({ length: n }, () => {
    count += 1
    return `Source${count}`
  })

const versionsOf = async (id: string): Promise<string[]> => (await t.anyone.get(`/v3/project/${id}`)).json().versions
const alter = (map: Map<string, Record<string, unknown>>, id: string, fields: object): void => {
  map.set(id, { ...map.get(id), ...fields })
}

const fileOf = (id: string): object => {
  const [file] = (source.versions.get(id)?.['files'] ?? []) as object[]
  assert.ok(file !== undefined)
  return file
}

test('a file with another content is skipped and counted, and tried again in the next run', async () => {
  const [project = '', bad = '', good = ''] = newIds(3)
  source.add(project, [bad, good])
  const bytes = source.files.get(`${bad}.jar`)
  assert.ok(bytes !== undefined)
  source.files.set(`${bad}.jar`, Buffer.from(bytes).fill(1, 0, 1))
  const first = await mirror.run()
  assert.deepEqual([first.versions, first.skipped, first.mismatches], [1, 1, 1])
  assert.deepEqual(await versionsOf(project), [good])
  const second = await mirror.run()
  assert.deepEqual([second.skipped, second.mismatches], [1, 1])
  const [failure] = await t.deps.db
    .selectFrom('mirror_failure')
    .selectAll()
    .where('remote_version_id', '=', bad)
    .execute()
  assert.deepEqual([failure?.code, failure?.attempts], ['hash_mismatch', 2])
  source.files.set(`${bad}.jar`, bytes)
  assert.deepEqual((await mirror.run()).versions, 1)
  assert.deepEqual((await versionsOf(project)).toSorted(), [bad, good].toSorted())
  assert.deepEqual((await mirror.run()).requests, 2)
})

test('a file without end, a longer one and a shorter one are mismatches', async () => {
  const [project = '', endless = '', longer = '', shorter = ''] = newIds(4)
  source.add(project, [endless, longer, shorter])
  source.files.set(
    `${longer}.jar`,
    Buffer.concat([source.files.get(`${longer}.jar`) ?? Buffer.alloc(0), Buffer.alloc(10)]),
  )
  source.files.set(`${shorter}.jar`, (source.files.get(`${shorter}.jar`) ?? Buffer.alloc(0)).subarray(0, -5))
  let ended = 0
  source.fault = (req, res) => {
    if (req.url !== `/files/${endless}.jar`) return false
    res.writeHead(200)
    const send = (): boolean => res.writable && res.write(Buffer.alloc(65_536)) && send()
    res.on('drain', send)
    res.on('close', () => {
      ended += 1
    })
    send()
    return true
  }
  const report = await mirror.run()
  assert.deepEqual([report.versions, report.mismatches], [0, 3], mirror.warnings.join('\n'))
  assert.ok(ended >= 1)
})

test('an interrupted download continues where it ended', async () => {
  const [project = '', version = ''] = newIds(2)
  source.add(project, [version])
  const bytes = source.files.get(`${version}.jar`) ?? Buffer.alloc(0)
  const ranges: (string | undefined)[] = []
  source.fault = (req, res) => {
    if (!req.url?.startsWith('/files/')) return false
    ranges.push(req.headers.range)
    if (ranges.length > 1) {
      sendFile(req, res, bytes)
      return true
    }
    res.writeHead(200, { 'content-length': bytes.length, etag: '"file"' })
    res.write(bytes.subarray(0, 40), () => res.socket?.end())
    return true
  }
  const report = await mirror.run()
  assert.deepEqual([report.files, report.skipped], [1, 0], mirror.warnings.join())
  assert.deepEqual([ranges[0], ranges.at(-1)], [undefined, 'bytes=40-'])
})

test('JSON without end, another form, and a page that is repeated end the run with a clear error', async () => {
  const [project = '', version = ''] = newIds(2)
  source.add(project, [version])
  const only = (path: string, act: (res: Parameters<NonNullable<StandInSource['fault']>>[1]) => void): void => {
    source.fault = (req, res) => {
      if (!req.url?.startsWith(path)) return false
      act(res)
      return true
    }
  }
  only('/v3/changes', (res) => {
    const send = (): boolean => res.writable && res.write(' '.repeat(65_536)) && send()
    res.on('drain', send)
    send()
  })
  await assert.rejects(mirror.run(), /sends more than 8 MiB of JSON/)
  only('/v3/changes', (res) => res.end('<html>'))
  await assert.rejects(mirror.run(), /is not JSON/)
  only('/v3/changes', (res) => res.end('{"changes":[{"id":"../x"}]}'))
  await assert.rejects(mirror.run(), /unknown form/)
  only('/v3/changes', (res) => res.end(JSON.stringify({ changes: [], next: 'again', more: true, latest: 'again' })))
  await assert.rejects(mirror.run(), /repeats a page/)
  only('/v3/changes', (res) => res.writeHead(410).end('{"error":"cursor_expired"}'))
  await assert.rejects(mirror.run(), /does not continue its own cursors|refuses a request/)
  only('/v3/projects', (res) => res.writeHead(500).end('{}'))
  await assert.rejects(mirror.run(), /has the status 500/)
  only('/v3/projects', (res) => res.socket?.destroy())
  await assert.rejects(mirror.run(), /does not respond/)
  source.fault = undefined
  assert.equal((await mirror.run()).versions, 1)
})

test('a run that stops halfway continues: nothing is half done, and nothing is copied twice', async () => {
  const [first = '', second = '', one = '', two = ''] = newIds(4)
  source.add(first, [one])
  source.add(second, [two])
  source.fault = (req, res) => {
    if (req.url !== `/files/${two}.jar`) return false
    res.socket?.destroy()
    return true
  }
  await assert.rejects(mirror.run(), /does not respond/)
  assert.deepEqual(await versionsOf(first), [one])
  assert.equal((await t.anyone.get(`/v3/project/${second}`)).statusCode, 404)
  source.fault = undefined
  const report = await mirror.run()
  assert.deepEqual([report.projects, report.versions], [1, 1])
  assert.deepEqual(await versionsOf(second), [two])
})

test('the run waits as the source asks, and slows down near its limit', async () => {
  const [project = '', version = ''] = newIds(2)
  source.add(project, [version])
  const waits: number[] = []
  let refused = 0
  source.fault = (req, res) => {
    if (req.url?.startsWith('/v3/projects') !== true) return false
    if (refused === 0) {
      refused += 1
      res.writeHead(429, { 'retry-after': '7' }).end()
      return true
    }
    res.setHeader('x-ratelimit-limit', '300')
    res.setHeader('x-ratelimit-remaining', '20')
    res.setHeader('x-ratelimit-reset', '40')
    return false
  }
  await mirror.run({ pause: async (ms) => void waits.push(ms) })
  assert.deepEqual(waits, [7000, 2000])
})

test('hostile names, IDs, dates and texts are skipped with a reason', async () => {
  const [project = '', path = '', date = '', nul = '', loader = '', good = ''] = newIds(6)
  source.add(project, [path, date, nul, loader, good])
  alter(source.versions, path, { files: [{ ...fileOf(path), filename: '../../evil.jar' }] })
  alter(source.versions, date, { date_published: '2024-99-99T07:08:09Z' })
  alter(source.versions, nul, { changelog: 'a\u0000b' })
  alter(source.versions, loader, { loaders: ['unheard-of'] })
  const report = await mirror.run()
  assert.deepEqual([report.versions, report.skipped], [1, 4], mirror.warnings.join('\n'))
  assert.deepEqual(await versionsOf(project), [good])
  const [bad = '', id = ''] = newIds(2)
  source.add(bad, [id], { status: 'draft' })
  const again = await mirrored({ project: bad })
  assert.deepEqual([again.projects, again.skipped], [0, 1])
  assert.equal((await t.anyone.get(`/v3/project/${bad}`)).statusCode, 404)
})

async function mirrored({ project }: { project: string }) {
  return mirror.run({ selection: { kind: 'projects', names: [project] }, retries: false })
}

test('URLs on other hosts that the source names obey the rules of the operator', async () => {
  const [project = '', version = ''] = newIds(2)
  source.add(project, [version])
  const other = await standInSource()
  alter(source.versions, version, { files: [{ ...fileOf(version), url: `${other.address}/files/${version}.jar` }] })
  const report = await mirror.run()
  assert.deepEqual([report.versions, report.failed], [0, 1], mirror.warnings.join())
  assert.deepEqual(other.paths, [])
  await other.close()
})

test('two runs of a mirror do not overlap', async () => {
  const [project = '', version = ''] = newIds(2)
  source.add(project, [version])
  let release: () => void = () => undefined
  const reached = new Promise<void>((resolve) => {
    source.fault = (req, res) => {
      if (!req.url?.startsWith('/files/')) return false
      resolve()
      release = () => sendFile(req, res, source.files.get(`${version}.jar`) ?? Buffer.alloc(0))
      return true
    }
  })
  const first = mirror.run()
  await reached
  await assert.rejects(mirror.run(), /Another run of the mirror .* is in progress/)
  release()
  assert.equal((await first).versions, 1)
})

test('a source that has become another instance is refused until the operator accepts it', async () => {
  const key =
    (name: string): StandInSource['fault'] =>
    (req, res) => {
      if (req.url !== '/v3/instance/key') return false
      res.end(JSON.stringify({ keys: [{ public_key: `whpk_${name}` }] }))
      return true
    }
  source.fault = key('one')
  await mirror.run()
  source.fault = key('two')
  await assert.rejects(mirror.run(), /has become another instance.*--accept-new-key/)
  source.fault = undefined
  await assert.rejects(mirror.run(), /has become another instance/)
  source.fault = key('two')
  await mirror.run({ acceptsNewKey: true })
  await mirror.run()
})

test('a dry run writes nothing; files that were left out follow in a later run', async () => {
  const [project = '', version = '', second = ''] = newIds(3)
  source.add(project, [version, second])
  const dry = await mirror.run({ isDryRun: true })
  assert.deepEqual([dry.projects, dry.versions], [1, 2])
  assert.equal((await t.anyone.get(`/v3/project/${project}`)).statusCode, 404)
  const { rows } = await sql`select from mirror where address = ${source.address}`.execute(t.deps.db)
  assert.equal(rows.length, 0)
  const without = await mirror.run({ withFiles: false })
  assert.deepEqual([without.versions, without.files], [2, 0])
  const size = source.files.get(`${version}.jar`)?.length ?? 0
  const limited = await mirror.run({ maxBytes: size + 10 })
  assert.deepEqual([limited.files, limited.skipped], [1, 1])
  assert.equal((await mirror.run()).files, 1)
  for (const id of [version, second]) {
    const { files } = (await t.anyone.get(`/v3/version/${id}`)).json()
    assert.equal((await t.anyone.get(new URL(files[0].url).pathname)).statusCode, 200)
  }
})

test('a redirect must not leave https, also on the same host', () => {
  const from = 'https://depot.example/v3/changes'
  assert.equal(nextTarget(from, '/v3/other'), 'https://depot.example/v3/other')
  assert.equal(nextTarget('http://depot.example/a', 'https://depot.example/a'), 'https://depot.example/a')
  assert.throws(() => nextTarget(from, 'http://depot.example/v3/changes'), /redirects to an address without https/)
})
