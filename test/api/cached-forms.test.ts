// After random writes, the responses from the caches, in every content coding and to every kind of caller, have the bytes of
// responses that are made without caches. Over real connections, because the fast path serves only these.
import assert from 'node:assert/strict'
import { type IncomingMessage, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import { sql } from 'kysely'
import { BYPASS_KEY, type TestApp, testApp } from '#test/support/app/test-app.ts'
import type { Person } from '#test/support/factories/factories.ts'
import { seededRandom } from '#test/support/factories/search-catalogue.ts'
import { teamFactories } from '#test/support/factories/team-factories.ts'
import { everyAddress } from '#test/support/http/every-response.ts'

const WRITES = 30
/** The second response is from a stored form, which is made in the background after the first. */
const REPEATS = 2

const DECODERS: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  identity: (bytes) => bytes,
  gzip: gunzipSync,
  br: brotliDecompressSync,
  zstd: zstdDecompressSync,
}

let t: TestApp
let port: number
before(async () => {
  t = await testApp()
  await t.app.listen({ port: 0, host: '127.0.0.1' })
  port = (t.app.server.address() as AddressInfo).port
})
after(() => t.close())

type Answer = { status: number | undefined; coding: string; text: string }

/** A GET, or a POST that only reads, with its body. */
type Read = { path: string; body?: object }

/** A read over the network, decoded. */
async function read({ path, body }: Read, headers: Record<string, string>): Promise<Answer> {
  const own: Record<string, string> = {
    // The same client as everywhere, because a session shows the client of its last use.
    'user-agent': 'depot-tests/1.0 (tests)',
    'x-ratelimit-key': BYPASS_KEY,
    'content-type': 'application/json',
    ...headers,
  }
  const method = body === undefined ? 'GET' : 'POST'
  // A partial request is not counted as a download.
  if (path.startsWith('/data/')) own['range'] = 'bytes=1-'
  const response = await new Promise<IncomingMessage>((resolve, reject) =>
    request({ host: '127.0.0.1', port, path, method, headers: own }, resolve)
      .on('error', reject)
      .end(body === undefined ? undefined : JSON.stringify(body)),
  )
  const bytes = Buffer.concat(await response.toArray())
  const coding = response.headers['content-encoding'] ?? 'identity'
  const decode = DECODERS[coding]
  assert.ok(decode, `${path}: ${coding}`)
  // Each read is a use of its token or session, which is recorded once per minute.
  const text = decode(bytes)
    .toString()
    .replace(/"(last_used|last_login|last_sign_in)":"[^"]*"/g, '"$1":""')
  return { status: response.statusCode, coding, text }
}

type World = {
  people: Person[]
  projects: { id: string }[]
  versions: string[]
  organization: string
  collection: string
}

async function makeWorld(): Promise<World> {
  const people = [await t.make.account(), await t.make.account({ role: 'admin' })]
  const [owner] = people as [Person]
  const projects = []
  // Long enough to be compressed.
  const description = 'A line that says something about the project. '.repeat(60)
  for (let n = 0; n < 2; n += 1) projects.push(await t.make.project({ owner }))
  for (const { id } of projects) await t.as(owner).patch(`/v3/project/${id}`, { description })
  const versions: string[] = []
  for (const project of projects) {
    const made = await t.make.version({ project })
    await t.make.file({ version: made, project, bytes: Buffer.from(`Bytes of ${made.id}`) })
    versions.push(made.id)
  }
  const organization = await teamFactories(t.deps.db).organization(owner)
  const made = await t.as(owner).post('/v3/collection', { name: 'Some', projects: projects.map(({ id }) => id) })
  return { people, projects, versions, organization: organization.id, collection: made.json().id }
}

/** The reads of both descriptions that `everyAddress` leaves out: by a body, and by parameters that are not IDs. */
async function otherReads({ projects }: World): Promise<Read[]> {
  const { rows } = await sql<{ sha1: string }>`select sha1 from file order by 1`.execute(t.deps.db)
  const hashes = rows.map(({ sha1 }) => sha1)
  const byHashes = { hashes, algorithm: 'sha1' }
  const checks = { ...byHashes, loaders: ['fabric'], game_versions: ['1.20.1'] }
  const ofBoth = (path: string, body: object): Read[] =>
    ['/v3', '/v2'].map((prefix) => ({ path: `${prefix}/${path}`, body }))
  return [
    ...ofBoth('version_files', byHashes),
    ...ofBoth('version_file/project', byHashes),
    ...ofBoth('version_files/update', checks),
    ...ofBoth('version_files/update_many', checks),
    ...ofBoth('version_files/update_individual', { algorithm: 'sha1', hashes: hashes.map((hash) => ({ hash })) }),
    ...hashes.flatMap((hash) => ofBoth(`version_file/${hash}/update?algorithm=sha1`, { loaders: ['fabric'] })),
    { path: '/v3/advisories/match', body: byHashes },
    { path: '/v3/resolve', body: { items: projects.map(({ id }) => ({ project: id })) } },
    { path: '/v3/search', body: {} },
    { path: '/v3/users/search?query=person' },
    { path: '/v3/project/similar?name=project' },
    { path: '/v3/loader_field?loader_field=game_versions' },
    ...projects.flatMap(({ id }) => [
      { path: `/maven/maven/group/${id}/maven-metadata.xml` },
      { path: `/updates/${id}/forge_updates.json` },
    ]),
  ]
}

/** Changes something of the world at random. */
async function write(
  { people, projects, versions, organization, collection }: World,
  random: () => number,
): Promise<void> {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
  const text = `Text ${Math.floor(random() * 1e9)}`
  const owner = t.as(people[0] as Person)
  const project = pick(projects).id
  const writes = [
    () => owner.patch(`/v3/project/${project}`, { summary: text }),
    () => owner.patch(`/v3/project/${project}`, { slug: `slug-${Math.floor(random() * 1e9)}` }),
    () => owner.patch(`/v3/version/${pick(versions)}`, { name: text }),
    () => owner.patch(`/v3/user/${people[0]?.id}`, { bio: text }),
    () => owner.patch(`/v3/organization/${organization}`, { description: text }),
    () => owner.patch(`/v3/collection/${collection}`, { description: text }),
    () => t.as(pick(people)).post(`/v3/project/${project}/follow`, undefined),
    () => t.as(pick(people)).delete(`/v3/project/${project}/follow`),
    () => owner.post(`/v3/version/${pick(versions)}/withdrawal`, { reason: text }),
    () =>
      t.as(people[1] as Person).patch(`/v3/project/${project}`, { status: pick(['approved', 'archived', 'unlisted']) }),
  ]
  const { statusCode } = await pick(writes)()
  // Following twice and withdrawing twice are refused.
  assert.ok(statusCode < 500, String(statusCode))
}

test('cached responses equal fresh ones in every coding and for every caller, after random writes', async () => {
  const world = await makeWorld()
  const seed = Number(process.env['SEED'] ?? Date.now() % 1e9)
  const random = seededRandom(seed)
  const callers = [{}, ...world.people.map(({ token }) => ({ authorization: token }))]
  const codings = Object.keys(DECODERS)
  const used = new Set<string>()
  const addresses = [...(await everyAddress(t.deps.db)), ...(await everyAddress(t.deps.db, 'openapi-v2.json'))]
  const reads: Read[] = [...addresses.map((path) => ({ path })), ...(await otherReads(world))]
  const requests = reads.flatMap((asked) => callers.map((caller) => ({ asked, caller })))
  for (const { asked, caller } of requests) await read(asked, caller)
  for (let n = 0; n < WRITES; n += 1) await write(world, random)
  await t.deps.search.caughtUp()
  const cached: Answer[][] = []
  for (const { asked, caller } of requests) {
    const answers: Answer[] = []
    for (const coding of codings) {
      for (let n = 0; n < REPEATS; n += 1) answers.push(await read(asked, { ...caller, 'accept-encoding': coding }))
    }
    cached.push(answers)
  }
  t.deps.cache.disable()
  for (const [n, { asked, caller }] of requests.entries()) {
    const { status, text } = await read(asked, { ...caller, 'accept-encoding': 'identity' })
    if (asked.path.includes('/version_files')) assert.notEqual(text, '{}')
    for (const answer of cached[n] ?? []) {
      used.add(answer.coding)
      assert.deepEqual(
        { status: answer.status, text: answer.text },
        { status, text },
        `${asked.path}, ${answer.coding}, SEED=${seed}`,
      )
    }
  }
  assert.deepEqual([...used].sort(), codings.toSorted())
})
