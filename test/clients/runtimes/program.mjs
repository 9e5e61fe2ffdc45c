// Depot's client in a runtime other than Node.js: reads, publishes in both ways, and reads errors and a webhook.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import process from 'node:process'
import { createDepot, DepotError, verifyWebhook, WebhookVerificationError } from 'depot-hosting-client'

const { DEPOT_URL, DEPOT_TOKEN, DEPOT_PROJECT, DEPOT_FILE, DEPOT_LARGE_FILE, DEPOT_MESSAGE, DEPOT_SECRET } = process.env
const depot = createDepot({ url: DEPOT_URL, token: DEPOT_TOKEN, userAgent: 'depot-runtimes-test/1.0' })

const project = await depot.get('/v3/project/{id}', { params: { path: { id: DEPOT_PROJECT } } })
assert.equal(project.slug, DEPOT_PROJECT)

const version = {
  project_id: project.id,
  version_title: 'First light',
  release_channel: 'release',
  loaders: ['fabric'],
  game_versions: ['1.20.1'],
}
const files = async (path, name) => [new File([await readFile(path)], name)]
const small = await depot.publish({ ...version, version_number: '1.0.0' }, await files(DEPOT_FILE, 'lantern.jar'))
const sent = []
const large = await depot.publish({ ...version, version_number: '1.1.0' }, await files(DEPOT_LARGE_FILE, 'large.jar'), {
  inParts: true,
  onProgress: (progress) => sent.push(progress.sent),
})
assert.equal(sent.at(-1), (await readFile(DEPOT_LARGE_FILE)).length)

const listed = []
for await (const each of depot.items('/v3/project/{id}/version', { params: { path: { id: project.id } } }))
  listed.push(each.id)
assert.deepEqual(listed.sort(), [small.id, large.id].sort())

await assert.rejects(depot.get('/v3/project/{id}', { params: { path: { id: 'missing-lantern' } } }), (error) => {
  assert.ok(error instanceof DepotError)
  assert.deepEqual([error.status, error.error], [404, 'not_found'])
  return true
})

const { headers, body } = JSON.parse(DEPOT_MESSAGE)
assert.equal((await verifyWebhook(headers, body, DEPOT_SECRET)).type, 'project.updated')
await assert.rejects(verifyWebhook(headers, `${body} `, DEPOT_SECRET), WebhookVerificationError)

for await (const change of depot.changes({ kinds: ['version'], follow: false }))
  if (listed.includes(change.id)) listed.splice(listed.indexOf(change.id), 1)
assert.deepEqual(listed, [])
