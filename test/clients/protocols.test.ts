// Libraries for feeds, uploads and webhooks, installed unchanged from their registries, against a running Depot.
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { createDispatcher } from '#features/exchange/webhooks/dispatch/dispatcher.ts'
import { type ServedApp, servedApp } from '#test/support/app/served-app.ts'
import { modJar, versionData } from '#test/support/http/forms.ts'
import { startCuttingProxy } from '#test/support/http/tus-steps.ts'
import { type ClientProgram, openClient, runClient } from '#test/support/processes/client-programs.ts'
import { type Received, startReceiver } from '#test/support/stand-ins/receiver.ts'

/** The libraries for Python share a virtual environment. */
const python = (program: string): ClientProgram => ({
  name: 'protocols',
  needs: ['python3'],
  install: [
    { file: 'python3', args: ['-m', 'venv', 'venv'] },
    { file: 'venv/bin/pip', args: ['install', '--quiet', '-r', 'requirements.txt'] },
  ],
  program: { file: 'venv/bin/python', args: [program] },
})

const GO: ClientProgram = {
  name: 'webhooks-go',
  needs: ['go'],
  install: [{ file: 'go', args: ['mod', 'download'] }],
  build: [{ file: 'go', args: ['build', '-o', 'verify', '.'] }],
  program: { file: './verify', args: [] },
}

/** Exit code of the programs that verify a message. */
const REJECTED = 3

let served: ServedApp
let folder: string
before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'depot-protocols-test-'))
  served = await servedApp({ OUTGOING_ALLOW: '127.0.0.0/8' })
})
after(async () => {
  await served?.t.close()
  rmSync(folder, { recursive: true, force: true })
})

type Entry = Record<'id' | 'title' | 'link' | 'author', string> & {
  html: string | null
  published: number[]
  updated: number[]
  files: [string, string, string][]
}

test('feedparser', async (context) => {
  const installed = await openClient(context, python('feeds.py'))
  if (installed === undefined) return
  const { t, url, requests } = served
  const owner = await t.make.account({ username: 'maker' })
  const project = await t.make.project({ owner, slug: 'lamp', name: 'Lamp & <b>Co</b>' })
  const date_published = new Date(Date.UTC(2026, 1, 28, 23, 59, 58))
  await t.make.version({ project, version_number: '1.0', date_published, changelog: 'Warmer **light** & more' })
  const version = await t.make.version({ project, version_number: '1.1' })
  await t.make.file({ project, version, filename: 'lamp one.jar', bytes: Buffer.from('lamp') })
  await t.searchable()
  const links = { '/mod/lamp/versions': 2, '/user/maker/releases': 2, '/mods/releases': 2, '/mods': 1, '/search': 1 }
  for (const [path, count] of Object.entries(links)) {
    const feed = `${path}.atom`
    const env = { DEPOT_FEED: `${url}${feed}` }
    const printed = JSON.parse(await runClient(installed, python('feeds.py'), env))
    assert.deepEqual(requests.slice(-2), [`GET ${feed} 200`, `GET ${feed} 304`])
    assert.ok(
      printed.links.some(([rel, href]: [string, string]) => rel === 'self' && href === `${url}${feed}`),
      path,
    )
    const entries: Entry[] = printed.entries
    const json = (await t.anyone.get(`${path}.json`)).json()
    assert.equal(printed.title, json.title)
    assert.equal(entries.length, count, path)
    assert.deepEqual(
      entries.map(({ id, link, author }) => [id, link, author]),
      json.items.map((item: { id: string; url: string; authors: { name: string }[] }) => [
        item.id,
        item.url,
        item.authors[0]?.name,
      ]),
    )
  }
  const env = { DEPOT_FEED: `${url}/mod/lamp/versions.atom` }
  const [newest, first] = JSON.parse(await runClient(installed, python('feeds.py'), env)).entries as Entry[]
  const [file] = (await t.anyone.get(`/v3/version/${version.id}`)).json().files
  assert.deepEqual(newest?.files, [[file.url, 'application/java-archive', '4']])
  assert.deepEqual(first?.published, [2026, 2, 28, 23, 59, 58])
  assert.match(first?.html ?? '', /<p>Warmer <strong>light<\/strong> &amp; more<\/p>/)
  assert.deepEqual(first?.files, [])
})

test('tuspy', async (context) => {
  const installed = await openClient(context, python('upload.py'))
  if (installed === undefined) return
  const { t, url } = served
  const owner = await t.make.account()
  const project = await t.make.project({ owner })
  const { token } = await t.make.pat(owner)
  const bytes = modJar('tuspy', [{ name: 'noise.bin', data: randomBytes(1_500_000), stored: true }])
  const [file, storage, partBytes] = [join(folder, 'lantern.jar'), join(folder, 'uploads.json'), 400_000]
  writeFileSync(file, bytes)
  // Each run cuts its first part: a request without a part is too short to be cut.
  const proxy = await startCuttingProxy([url], { cuts: 2, minBytes: 100_000, maxBytes: 300_000 })
  try {
    const upload = (env: Record<string, string>) =>
      runClient(installed, python('upload.py'), {
        DEPOT_URL: proxy.url,
        DEPOT_TOKEN: token,
        DEPOT_FILE: file,
        DEPOT_STORAGE: storage,
        DEPOT_PART_BYTES: String(partBytes),
        ...env,
      })
    const before = (await upload({ DEPOT_PARTS: '2' })).trim().split(' ')
    assert.deepEqual(before.slice(0, 2), ['0', String(2 * partBytes)])
    assert.equal(proxy.cuts(), 1)
    const uploads = (await t.as(owner).get('/v3/upload')).json()
    assert.deepEqual(
      uploads.map((each: { offset: number; length: number }) => [each.offset, each.length]),
      [[2 * partBytes, bytes.length]],
    )
    proxy.cut(2)
    const [offset, end, address = ''] = (await upload({})).trim().split(' ')
    assert.deepEqual([offset, end, address], [String(2 * partBytes), String(bytes.length), before[2]])
    assert.equal(proxy.cuts(), 2)
    const id = new URL(address).pathname.split('/').at(-1)
    const data = versionData({ project_id: project.id, file_parts: [`upload:${id}`] })
    const made = await t.as(owner).post('/v3/version', data)
    assert.equal(made.statusCode, 201, made.body)
    const [published] = made.json().files
    assert.equal(published.filename, 'lantern.jar')
    assert.equal(published.hashes.sha512, createHash('sha512').update(bytes).digest('hex'))
  } finally {
    await proxy.close()
  }
})

for (const [name, client] of [
  ['standardwebhooks for Python', python('verify.py')],
  ['standard-webhooks for Go', GO],
] as const)
  test(name, async (context) => {
    const installed = await openClient(context, client)
    if (installed === undefined) return
    const { t } = served
    const owner = await t.make.account()
    const project = await t.make.project({ owner })
    const dispatcher = createDispatcher({ ...t.deps, version: '1.2.3' })
    const receiver = await startReceiver()
    let secret = ''
    /** Returns what the program printed and the status with which a receiver would respond. */
    const verify = async ({ headers, body }: Pick<Received, 'headers' | 'body'>, with_ = secret) => {
      const env = { DEPOT_MESSAGE: JSON.stringify({ headers, body }), DEPOT_SECRET: with_ }
      return runClient(installed, client, env).then(
        (printed) => ({ status: 204, printed: printed.trim() }),
        (error) => (error.code === REJECTED ? { status: 401, printed: error.stdout.trim() } : Promise.reject(error)),
      )
    }
    const respond = (change: (received: Received) => Pick<Received, 'headers' | 'body'>) =>
      receiver.answer(async (received, res) => {
        const { status } = await verify(change(received)).catch(() => ({ status: 500 }))
        res.writeHead(status).end()
      })
    try {
      const hook = { owner: { kind: 'project', id: project.id }, url: `${receiver.url}/hook`, events: ['*'] }
      const created = await t.as(owner).post('/v3/webhook', hook)
      assert.equal(created.statusCode, 201, created.body)
      secret = created.json().secret
      const rename = async (to: string): Promise<{ state: string; last_status: number }> => {
        assert.equal((await t.as(owner).patch(`/v3/project/${project.id}`, { name: to })).statusCode, 204)
        await dispatcher.settle()
        const answer = await t.as(owner).get(`/v3/webhook/${created.json().id}/deliveries`)
        return answer.json().deliveries[0]
      }
      respond((received) => received)
      assert.equal((await rename('Lantern for "long" nights – ü')).state, 'delivered')
      const [message] = receiver.received
      assert.ok(message !== undefined)
      assert.deepEqual(await verify(message), { status: 204, printed: 'project.updated' })
      const other = `whsec_${randomBytes(24).toString('base64')}`
      assert.equal((await verify(message, other)).status, 401)
      const earlier = String(Number(message.headers['webhook-timestamp']) - 1)
      const moved = { ...message, headers: { ...message.headers, 'webhook-timestamp': earlier } }
      assert.equal((await verify(moved)).status, 401)
      respond(({ headers, body }) => ({ headers, body: body.replace('Lamp', 'Bomb') }))
      assert.notEqual((await rename('Lamp')).state, 'delivered')
    } finally {
      receiver.close()
    }
  })
