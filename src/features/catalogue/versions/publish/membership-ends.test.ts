// A membership that ends while the files of a version are being uploaded.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import type { MadeProject, Person } from '#test/support/factories/factories.ts'
import { assertError } from '#test/support/http/account-steps.ts'
import { form, modJar, versionData } from '#test/support/http/forms.ts'

let t: TestApp
let project: MadeProject
let uploader: Person
/** Called when the first byte of a file has arrived, after the permission check. */
let whenFilesArrive: () => Promise<void> = async () => {}
before(async () => {
  t = await testApp({
    deps: ({ files }) => ({
      files: {
        ...files,
        stage: async (...given: Parameters<typeof files.stage>) => {
          await whenFilesArrive()
          return files.stage(...given)
        },
      },
    }),
  })
  project = await t.make.project()
})
after(() => t.close())

async function join(): Promise<void> {
  uploader = await t.make.account()
  await t.make.member({ teamId: project.teamId, accountId: uploader.id, permissions: 1 })
  whenFilesArrive = async () => {
    const path = `/v3/team/${project.teamId}/members/${uploader.id}`
    assert.equal((await t.as(project.owner).delete(path)).statusCode, 204)
    whenFilesArrive = async () => {}
  }
}

async function listVersions(): Promise<unknown[]> {
  return (await t.anyone.get(`/v3/project/${project.id}/version`)).json()
}

test('rejects the version, and leaves nothing behind', async () => {
  await join()
  const { payload, headers } = await form({ project_id: project.id, ...versionData({}) }, [
    { name: 'file', filename: 'a.jar', bytes: modJar('late') },
  ])
  assertError(await t.as(uploader).post('/v3/version', payload, { headers }), 403, 'unauthorized')
  assert.deepEqual(await listVersions(), [])
  const claims = await t.deps.db.selectFrom('upload_claim').select('storage_key').execute()
  assert.deepEqual(claims, [])
})

test('rejects files for a version that exists', async () => {
  const first = await form({ project_id: project.id, ...versionData({}) }, [
    { name: 'file', filename: 'a.jar', bytes: modJar('first') },
  ])
  const version = (await t.as(project.owner).post('/v3/version', first.payload, { headers: first.headers })).json()
  await join()
  const more = await form(undefined, [{ name: 'b', filename: 'b.jar', bytes: modJar('more') }])
  const path = `/v3/version/${version.id}/file`
  assertError(await t.as(uploader).post(path, more.payload, { headers: more.headers }), 403, 'unauthorized')
  assert.equal((await t.anyone.get(`/v3/version/${version.id}`)).json().files.length, 1)
})
