// A server that is killed during an upload loses no byte that it has acknowledged.
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { request } from 'node:http'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { modJar, projectData, versionData } from '#test/support/http/forms.ts'
import { depot, makeDataDir, startDepot } from '#test/support/processes/running-depot.ts'

const { dataDir, remove } = makeDataDir()
after(remove)

const PART_BYTES = 300_000
const TUS = { 'user-agent': 'depot-test', 'tus-resumable': '1.0.0' }

test('kill -9 between two parts, and during a part, loses nothing that was acknowledged', async () => {
  const user = ['--username', 'mira', '--email', 'mira@example.org', '--password', 'violet-harbour-lantern-42']
  let server = await startDepot(dataDir)
  await depot(dataDir, ['user', 'create', ...user, '--role', 'admin'])
  const { stdout } = await depot(dataDir, ['token', 'create', '--user', 'mira', '--scopes', 'all'])
  const headers = { ...TUS, authorization: stdout.trim() }
  const json = { ...headers, 'content-type': 'application/json' }
  const bytes = modJar('crash', [{ name: 'noise.bin', data: randomBytes(1_000_000), stored: true }])
  const metadata = `filename ${Buffer.from('crash.jar').toString('base64')}`
  const created = await fetch(`${server.url}/v3/upload`, {
    method: 'POST',
    headers: { ...headers, 'upload-length': String(bytes.length), 'upload-metadata': metadata },
  })
  assert.equal(created.status, 201)
  const path = created.headers.get('location') ?? ''
  const kill = async () => {
    await server.stop('SIGKILL')
    server = await startDepot(dataDir)
  }
  const stored = async () => {
    const head = await fetch(server.url + path, { method: 'HEAD', headers })
    assert.equal(head.status, 200)
    return Number(head.headers.get('upload-offset'))
  }

  let acknowledged = 0
  for (let kills = 0; acknowledged < bytes.length; ) {
    const body = bytes.subarray(acknowledged, acknowledged + PART_BYTES)
    const part = {
      ...headers,
      'content-type': 'application/offset+octet-stream',
      'upload-offset': String(acknowledged),
    }
    const answer = await fetch(server.url + path, { method: 'PATCH', headers: part, body: new Uint8Array(body) })
    if (answer.status === 409) {
      // The lease of the killed request ends after ten seconds.
      assert.equal(answer.headers.get('retry-after'), '1')
      await sleep(500)
      continue
    }
    assert.equal(answer.status, 204, await answer.text())
    acknowledged = Number(answer.headers.get('upload-offset'))
    if (kills === 0) await kill()
    if (kills === 1) {
      const half = request(server.url + path, {
        method: 'PATCH',
        headers: { ...part, 'upload-offset': String(acknowledged), 'content-length': String(PART_BYTES) },
      })
      half.on('error', () => undefined)
      await new Promise((resolve) => half.write(bytes.subarray(acknowledged, acknowledged + 1000), resolve))
      await sleep(200)
      await kill()
    }
    kills += 1
    const offset = await stored()
    assert.ok(offset >= acknowledged, `${offset} of ${acknowledged}`)
    acknowledged = offset
  }

  const project = await fetch(`${server.url}/v3/project`, {
    method: 'POST',
    headers: json,
    body: JSON.stringify(projectData('crash')),
  })
  const { id } = (await project.json()) as { id: string }
  const data = { ...versionData(), project_id: id, file_parts: [`upload:${path.split('/').at(-1)}`] }
  const version = await fetch(`${server.url}/v3/version`, { method: 'POST', headers: json, body: JSON.stringify(data) })
  const { files } = (await version.json()) as { files: { hashes: { sha512: string } }[] }
  assert.equal(files[0]?.hashes.sha512, createHash('sha512').update(bytes).digest('hex'))
  await server.stop()
})
