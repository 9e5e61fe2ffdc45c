// Tests of a catalogue on the cluster. Each user's requests have their own IP address and so reach one server; the
// tests then read the result on every server.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import sharp from 'sharp'
import { form, modJar, projectData, versionData } from '#test/support/http/forms.ts'
import { depot } from '#test/support/processes/running-depot.ts'
import { type Answer, type Cluster, type Sent, send } from './cluster.ts'

const PASSWORD = 'violet-lighthouse-harbour-19'

type Person = { id: string; send(path: string, sent?: Sent): Promise<Answer> }

/** Registers the tests; the cluster is there when they run. */
export function catalogueTests(cluster: () => Cluster): void {
  let author: Person
  let moderator: Person
  let visitor: Person
  let project: { id: string; slug: string; team: string }
  let version: { id: string; sha512: string; url: string }

  /** Waits until every server returns the same state. */
  async function everywhere(path: string, holds: (answer: Answer) => boolean, sent: Sent = {}): Promise<void> {
    for (const url of cluster().own) {
      let answer = await send(url, path, '192.0.2.250', sent)
      while (!holds(answer)) {
        await sleep(20)
        answer = await send(url, path, '192.0.2.250', sent)
      }
    }
  }

  before(async () => {
    const { dataDir, env, url } = cluster()
    const names = ['author', 'moderator', 'visitor']
    const people: Person[] = []
    for (const [n, username] of names.entries()) {
      const role = username === 'moderator' ? 'moderator' : 'developer'
      const account = ['--username', `catalogue-${username}`, '--email', `${username}@catalogue.example`]
      const made = await depot(dataDir, ['user', 'create', ...account, '--password', PASSWORD, '--role', role], env)
      assert.equal(made.code, 0, made.stderr)
      const address = `198.51.100.${10 + n}`
      const json = { username: `catalogue-${username}`, password: PASSWORD }
      const login = await send(url, '/_internal/auth/login', address, { method: 'POST', json })
      const token = String(field(login, 'session'))
      const person = { send: (path: string, sent: Sent = {}) => send(url, path, address, { token, ...sent }), id: '' }
      people.push({ ...person, id: String(field(await person.send('/v3/user'), 'id')) })
    }
    ;[author, moderator, visitor] = people as [Person, Person, Person]
  })

  test('a project is published, approved, and is the same at each server', async () => {
    const bytes = modJar('catalogue')
    const slug = 'catalogue-lantern'
    const data = projectData(slug, { is_draft: false, initial_versions: [versionData()] })
    const { payload, headers } = await form(data, [{ name: 'file', filename: 'lantern.jar', bytes }])
    const made = await author.send('/v3/project', { method: 'POST', body: Uint8Array.from(payload), headers })
    assert.equal(made.status, 201, made.bytes.toString())
    project = { id: String(field(made, 'id')), slug, team: String(field(made, 'team_id')) }
    await everywhere(`/v3/project/${slug}`, ({ status }) => status === 404)
    const approve = { method: 'PATCH', json: { status: 'approved' } }
    assert.equal((await moderator.send(`/v3/project/${slug}`, approve)).status, 204)
    await everywhere(`/v3/project/${slug}`, ({ status }) => status === 200)
    const [only] = (await author.send(`/v3/project/${slug}/version`)).body as {
      id: string
      files: { url: string; hashes: { sha512: string } }[]
    }[]
    version = { id: only?.id ?? '', sha512: createHash('sha512').update(bytes).digest('hex'), url: '' }
    version.url = new URL(only?.files[0]?.url ?? '').pathname
    assert.equal(only?.files[0]?.hashes.sha512, version.sha512)
    await everywhere(version.url, (answer) => answer.status === 200 && answer.bytes.equals(bytes))
    await everywhere(
      `/v3/version_file/${version.sha512}?algorithm=sha512`,
      (found) => field(found, 'id') === version.id,
    )
  })

  test('it is found by words and facets wherever one asks, and an edit is found as well', async () => {
    const facets = encodeURIComponent(JSON.stringify([['categories:magic'], ['versions:1.20.1']]))
    const isHit = (answer: Answer) => JSON.stringify(field(answer, 'hits')).includes(project.id)
    await everywhere(`/v3/search?query=lantern&facets=${facets}`, isHit)
    const json = { name: 'Chandelier of glass', summary: 'Hangs from the ceiling.' }
    assert.equal((await author.send(`/v3/project/${project.id}`, { method: 'PATCH', json })).status, 204)
    assert.equal(field(await author.send(`/v3/project/${project.id}`), 'name'), json.name, 'their own write')
    await everywhere(`/v3/project/${project.id}`, (answer) => field(answer, 'summary') === json.summary)
    await everywhere('/v3/search?query=chandelier', isHit)
  })

  test('offers an update until the update is deleted', async () => {
    const bytes = modJar('catalogue-update')
    const data = versionData({ project_id: project.id, version_number: '1.1.0' })
    const { payload, headers } = await form(data, [{ name: 'file', filename: 'update.jar', bytes }])
    const made = await author.send('/v3/version', { method: 'POST', body: Uint8Array.from(payload), headers })
    assert.equal(made.status, 201, made.bytes.toString())
    const id = String(field(made, 'id'))
    const ask = {
      method: 'POST',
      json: { hashes: [version.sha512], algorithm: 'sha512', loaders: ['fabric'], game_versions: ['1.20.1'] },
    }
    const offered = (answer: Answer) => (field(answer, version.sha512) as { id: string } | undefined)?.id
    await everywhere('/v3/version_files/update', (answer) => offered(answer) === id, ask)
    assert.equal((await author.send(`/v3/version/${id}`, { method: 'DELETE' })).status, 204)
    await everywhere(`/v3/version/${id}`, ({ status }) => status === 404)
    await everywhere('/v3/version_files/update', (answer) => offered(answer) === version.id, ask)
  })

  test('one server stores an image and every server sends it', async () => {
    const picture = await sharp({ create: { width: 8, height: 8, channels: 3, background: '#204060' } })
      .png()
      .toBuffer()
    const path = `/v3/project/${project.id}/icon?ext=png`
    const sent = { method: 'PATCH', body: Uint8Array.from(picture), headers: { 'content-type': 'image/png' } }
    assert.equal((await author.send(path, sent)).status, 204)
    const icon = new URL(String(field(await author.send(`/v3/project/${project.id}`), 'icon_url'))).pathname
    await everywhere(icon, (answer) => answer.status === 200 && answer.headers.get('content-type') === 'image/webp')
  })

  test('a follower is notified of a version once', async () => {
    assert.equal((await visitor.send(`/v3/project/${project.id}/follow`, { method: 'POST' })).status, 204)
    await everywhere(`/v3/project/${project.id}`, (answer) => field(answer, 'followers') === 1)
    const data = versionData({ project_id: project.id, version_number: '1.2.0' })
    const { payload, headers } = await form(data, [{ name: 'file', filename: 'news.jar', bytes: modJar('news') }])
    const made = await author.send('/v3/version', { method: 'POST', body: Uint8Array.from(payload), headers })
    assert.equal(made.status, 201, made.bytes.toString())
    const told = async () => (await visitor.send(`/v3/user/${visitor.id}/notifications`)).body as unknown[]
    while ((await told()).length === 0) await sleep(20)
    // Nothing is left that could say it once more.
    const { query } = cluster().instance
    while ((await query('select 1 from graphile_worker.jobs where run_at <= now()')).rowCount) await sleep(20)
    assert.equal((await told()).length, 1)
  })

  test('granting and removing a permission takes effect on every server', async () => {
    const edit = { method: 'PATCH', json: { summary: 'Edited by a member.' } }
    const path = `/v3/project/${project.id}`
    assert.equal((await visitor.send(path, edit)).status, 403)
    const json = { user_id: visitor.id, permissions: 4, role: 'Editor' }
    const members = `/v3/team/${project.team}/members`
    assert.equal((await author.send(members, { method: 'POST', json })).status, 204)
    assert.equal((await visitor.send(`/v3/team/${project.team}/join`, { method: 'POST' })).status, 204)
    assert.equal((await visitor.send(path, edit)).status, 204)
    assert.equal((await author.send(`${members}/${visitor.id}`, { method: 'DELETE' })).status, 204)
    assert.equal((await visitor.send(path, edit)).status, 403)
  })

  test('a session that ended is refused by all', async () => {
    const { url } = cluster()
    const json = { username: 'catalogue-visitor', password: PASSWORD }
    const login = await send(url, '/_internal/auth/login', '198.51.100.40', { method: 'POST', json })
    const token = String(field(login, 'session'))
    await everywhere('/v3/user', ({ status }) => status === 200, { token })
    const sessions = (await send(url, '/_internal/session/list', '198.51.100.40', { token })).body as {
      id: string
      current: boolean
    }[]
    const { id } = sessions.find(({ current }) => current) ?? { id: '' }
    const gone = await send(url, `/_internal/session/${id}`, '198.51.100.40', { method: 'DELETE', token })
    assert.equal(gone.status, 204)
    await everywhere('/v3/user', ({ status }) => status === 401, { token })
  })

  test('views that came to all of them are counted in one store', async () => {
    const json = { url: `${cluster().url}/project/${project.slug}` }
    const views = 9
    for (let n = 0; n < views; n += 1) {
      const sent = { method: 'POST', json }
      assert.equal((await send(cluster().url, '/analytics/view', `203.0.113.${n}`, sent)).status, 204)
    }
    const now = Date.now()
    const question = {
      time_range: { start: new Date(now - 3_600_000), end: new Date(now + 3_600_000), resolution: { slices: 1 } },
      return_metrics: { project_views: { bucket_by: ['project_id'] } },
    }
    const counted = async () => {
      const { bytes } = await author.send('/v3/analytics', { method: 'POST', json: question })
      return new RegExp(`"views":${views}\\b`).test(bytes.toString())
    }
    while (!(await counted())) await sleep(100)
  })
}

function field(answer: Answer, name: string): unknown {
  return (answer.body as Record<string, unknown> | undefined)?.[name]
}
