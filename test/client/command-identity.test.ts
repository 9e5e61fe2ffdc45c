// depot-publish in a CI job, and the end of a run that is stopped.
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { VERSION } from '#client/command/help.ts'
import { noteOtherVersion } from '#client/command/other-version.ts'
import { Stopped } from '#client/command/outcome.ts'
import { openInstance, openPublisher, type Publisher } from './publish-steps.ts'
import { standIn } from './stand-in.ts'

let p: Publisher
before(async () => {
  p = await openPublisher()
})
beforeEach(() => p.clear())
after(() => p?.close())

test('the command notes that the instance has another version of it, and says nothing about the same version', async () => {
  const versions = ['9.0.0', VERSION, undefined]
  const server = await standIn((_, response) => {
    const version = versions.shift()
    const client = version === undefined ? {} : { client: { version, url: 'https://depot.example/client.tgz?v=9' } }
    response.end(JSON.stringify(client))
  })
  const notes: string[] = []
  const compare = () => noteOtherVersion(`${server.url}/`, (text) => notes.push(text), AbortSignal.timeout(60_000))
  for (const _ of [1, 2, 3]) await compare()
  server.close()
  await compare()
  assert.deepEqual(notes, [
    `This is depot-publish ${VERSION}, and the instance has 9.0.0. To use it, run npx -p 'https://depot.example/client.tgz?v=9' depot-publish`,
  ])
})

describe('the identity of a CI job', () => {
  test('a runner issues a token for the audience of the instance; the exchanged token is revoked at the end', async () => {
    const asked: unknown[] = []
    const runner = await standIn((request, response) => {
      asked.push([request.url, request.headers.authorization])
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ value: 'jwt of the job' }))
    })
    const depot = await openInstance(p, (jwt) => jwt === 'jwt of the job')
    const slug = await p.newProject()
    p.writeJar('lantern.jar')
    const { code, notes } = await p.publish(['--project', slug, 'lantern.jar'], {
      DEPOT_URL: depot.url,
      ACTIONS_ID_TOKEN_REQUEST_URL: `${runner.url}/token?api-version=2`,
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'of the runner',
    })
    assert.equal(code, 0, notes)
    assert.deepEqual(asked, [['/token?api-version=2&audience=https%3A%2F%2Fdepot.example', 'bearer of the runner']])
    assert.deepEqual(depot.exchanged, [{ token: 'jwt of the job', project: slug }, 'revoked true'])
    depot.close()
    runner.close()
  })

  test('GitLab provides the token in the environment; a refusal states its reason', async () => {
    const depot = await openInstance(p, () => false)
    p.writeJar('lantern.jar')
    const env = { DEPOT_URL: depot.url, DEPOT_ID_TOKEN: 'jwt of gitlab' }
    const { code, notes } = await p.publish(['--project', 'lantern', 'lantern.jar'], env)
    assert.equal(code, 1)
    assert.match(notes, /workflow is ci\.yml, expected release\.yml/)
    depot.close()
  })
})

test('a stopped run says so and revokes its token', async () => {
  const stop = new AbortController()
  const depot = await openInstance(
    p,
    () => true,
    (path) => {
      const isProject = path === '/v3/project/lantern'
      if (isProject) stop.abort(new Stopped('Stopped by SIGINT'))
      return isProject
    },
  )
  p.writeJar('lantern.jar')
  const env = { DEPOT_URL: depot.url, DEPOT_ID_TOKEN: 'jwt' }
  const { code, result, notes } = await p.publish(['--project', 'lantern', 'lantern.jar'], env, stop.signal)
  assert.deepEqual([code, result, notes], [130, '', 'Error: Stopped by SIGINT'])
  assert.deepEqual(depot.exchanged, [{ token: 'jwt', project: 'lantern' }, 'revoked true'])
  depot.close()
})
