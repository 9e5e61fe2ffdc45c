// The pages of a version while its files are scanned, and after each verdict.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import type { Person } from '#test/support/factories/factories.ts'
import { modJar } from '#test/support/http/forms.ts'
import { assertValidHtml } from '#test/support/http/html-page.ts'
import { sendForm } from '#test/support/http/send-form.ts'
import { assertSays, hiddenFields, type Visitor, visitor } from '#test/support/http/visitor.ts'

/** Verdicts by the name of the file. */
const server = createServer((req, res) => {
  const { filename } = JSON.parse(decodeURIComponent(String(req.headers['x-file'])))
  const verdict = ['quarantine', 'warn'].find((name) => filename.startsWith(name)) ?? 'pass'
  req
    .resume()
    .on('end', () =>
      res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ verdict, reason: '<b>why</b>' })),
    )
})

let t: TestApp
let owner: Person
let person: Visitor
before(async () => {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  t = await testApp({ env: { SCANNER_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` } })
  owner = await t.make.account()
  const project = await t.make.project({ owner, slug: 'lantern', name: 'Lantern' })
  await t.make.version({ project })
  person = visitor(t, owner.token)
})
after(async () => {
  server.closeAllConnections()
  server.close()
  await t?.close()
})

const PAGE = '/mod/lantern/versions/new'
const FIELDS = {
  version_type: 'release',
  loaders: ['fabric'],
  game_versions: ['1.20.1'],
  changelog: '',
  when: 'now',
  do: 'publish',
}

/** Publishes a version with these files over the page, and returns the page that shows its scan. */
async function publish(number: string, ...names: string[]): Promise<string> {
  const fields = { ...hiddenFields(await person.get(PAGE), PAGE), ...FIELDS, version_number: number, name: number }
  const files = names.map((filename) => ({ name: 'files', filename, bytes: modJar(filename) }))
  const answer = await sendForm(t, person, PAGE, fields, files)
  assert.equal(answer.statusCode, 303, answer.body)
  const location = String(answer.headers.location)
  assert.match(location, /^\/mod\/lantern\/version\/\w+\/edit\?done=version-scanning$/)
  return location
}

test('a version is shown to its members while it is scanned, and is then public', async () => {
  assertSays(await person.get(PAGE), 200, 'After the scan.')
  const path = await publish('1.1.0', 'good.jar')
  const waiting = await person.get(path)
  assertValidHtml(waiting.body)
  assertSays(waiting, 200, 'Scanning…')
  assertSays(waiting, 200, 'data-refresh')
  assertSays(waiting, 200, 'The version is published after that.')
  await t.runJobs()
  const done = await person.get(path.replace(/\?.*/, ''))
  assert.ok(!done.body.includes('data-refresh'))
  assertSays(done, 200, 'Passed')
  assert.equal((await t.anyone.get('/v3/project/lantern/version/1.1.0')).statusCode, 200)
  // The next scan says how long this one has taken.
  assertSays(await person.get(await publish('1.2.0', 'better.jar')), 200, 'This usually takes')
  await t.runJobs()
})

test('a warning is shown with its reason', async () => {
  const path = await publish('1.3.0', 'warn.jar')
  await t.runJobs()
  const page = await person.get(path)
  assertSays(page, 200, 'The scan has passed with a warning.')
  assert.ok(!page.body.includes('<b>why</b>'))
})

test('a quarantined version names the file, and offers to delete it or to contact the moderators', async () => {
  const path = await publish('1.4.0', 'fine.jar', 'quarantine.jar')
  await t.runJobs()
  const page = await person.get(path)
  assertValidHtml(page.body)
  assertSays(page, 200, 'The scanner has quarantined this version.')
  assertSays(page, 200, 'href="/mod/lantern/settings/review#thread"')
  assert.ok(!page.body.includes('<b>why</b>'))
  const remove = /href="([^"]+)">Delete quarantine\.jar/.exec(page.body)?.[1] ?? ''
  assertSays(await person.get(remove), 200, 'Delete quarantine.jar?')
  await person.send(remove, remove, { do: 'confirm' })
  await t.runJobs()
  assert.equal((await t.anyone.get('/v3/project/lantern/version/1.4.0')).statusCode, 200)
  // The only file of a version cannot be deleted, but the version can.
  const alone = await publish('1.5.0', 'quarantine-2.jar')
  await t.runJobs()
  const single = await person.get(alone)
  assertSays(single, 200, `${alone.replace(/edit.*/, 'delete')}">Delete 1.5.0`)
  const helper = await t.make.account()
  const { team_id: teamId } = (await t.anyone.get('/v3/project/lantern')).json()
  await t.make.member({ teamId, accountId: helper.id, permissions: 1 })
  assert.ok(!(await visitor(t, helper.token).get(alone)).body.includes('Delete 1.5.0'))
})
