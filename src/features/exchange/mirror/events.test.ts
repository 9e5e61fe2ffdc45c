// Webhooks receive what mirrors copy.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { createDispatcher } from '#features/exchange/webhooks/dispatch/dispatcher.ts'
import { testApp } from '#test/support/app/test-app.ts'
import { type Mirroring, mirroringApp } from '#test/support/factories/mirror-factories.ts'
import { type StandInSource, standInSource } from '#test/support/stand-ins/mirror-source.ts'
import { type Receiver, startReceiver } from '#test/support/stand-ins/receiver.ts'

let source: StandInSource
let receiver: Receiver
let mirror: Mirroring
before(async () => {
  source = await standInSource()
  receiver = await startReceiver()
  const t = await testApp({ env: { OUTGOING_ALLOW: '127.0.0.1' } })
  mirror = await mirroringApp(source.address, t)
  const admin = await t.make.account({ role: 'admin' })
  const owners = [
    { by: admin, owner: { kind: 'instance' } },
    { by: mirror.owner, owner: { kind: 'organization', id: mirror.organization.id } },
  ]
  for (const { by, owner } of owners) {
    const body = { url: `${receiver.url}/${owner.kind}`, events: ['*'], owner }
    assert.equal((await t.as(by).post('/v3/webhook', body)).statusCode, 201)
  }
})
after(async () => {
  receiver?.close()
  await mirror?.t.close()
  await source?.close()
})
beforeEach(() => {
  receiver.received.length = 0
})

type Message = { type: string; data: { project_id: string; version_id?: string; from?: string; to?: string } }

/** Runs the mirror, and returns what a receiver has then received, without order. */
async function run(): Promise<{ instance: string[]; organization: string[] }> {
  await mirror.run()
  await createDispatcher({ ...mirror.t.deps, version: '1' }).settle()
  const of = (path: string) =>
    receiver.received
      .filter((message) => message.path === path)
      .map(({ body }) => {
        const { type, data } = JSON.parse(body) as Message
        const change = data.to === undefined ? '' : ` ${data.from}-${data.to}`
        return `${type} ${data.version_id ?? data.project_id}${change}`
      })
      .toSorted()
  return { instance: of('/instance'), organization: of('/organization') }
}

test('the instance and the organization receive events of a copied project and its versions, and of later ones', async () => {
  source.add('Copy1', ['CopyV1'])
  const created = [
    'project.created Copy1',
    'project.status_changed Copy1 draft-approved',
    'version.published CopyV1 draft-listed',
  ]
  assert.deepEqual(await run(), { instance: created, organization: created }, mirror.warnings.join())

  receiver.received.length = 0
  assert.deepEqual(await run(), { instance: [], organization: [] })

  source.add('Copy1', ['CopyV1', 'CopyV2'], { revision: 2 })
  source.announce('project', 'Copy1')
  source.announce('version', 'CopyV2')
  const published = ['version.published CopyV2 draft-listed']
  assert.deepEqual(await run(), { instance: published, organization: published })
})

test('they receive a status that has changed at the source, and removed versions', async () => {
  source.add('Copy2', ['CopyV3', 'CopyV4'])
  source.announce('project', 'Copy2')
  await run()
  receiver.received.length = 0
  source.versions.set('CopyV3', { ...source.versions.get('CopyV3'), revision: 2, status: 'archived' })
  source.versions.delete('CopyV4')
  source.announce('version', 'CopyV3')
  source.announce('version', 'CopyV4', 'removed')
  const changed = ['version.updated CopyV3 listed-archived', 'version.updated CopyV4 listed-unlisted']
  assert.deepEqual((await run()).organization, changed)

  receiver.received.length = 0
  source.projects.set('Copy2', {
    ...source.projects.get('Copy2'),
    revision: 2,
    versions: ['CopyV3'],
    status: 'archived',
  })
  source.announce('project', 'Copy2')
  const archived = ['project.status_changed Copy2 approved-archived']
  assert.deepEqual(await run(), { instance: archived, organization: archived })
})
