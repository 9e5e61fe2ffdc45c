// The first start of an empty instance: it shows each instruction to the operator in the expected place only.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { makeDataDir, startDepot } from '#test/support/processes/running-depot.ts'

const { dataDir, remove } = makeDataDir()
after(remove)
const admin = { username: 'olga', email: 'olga@example.org', password: 'violet-harbour-lantern-42' }

test('the first start says where everything is and makes the first admin in the browser; the next one does not', async () => {
  const server = await startDepot(dataDir, { LOG_FORMAT: 'text' })
  try {
    const { promise, resolve } = Promise.withResolvers<string>()
    const find = (): void => {
      const link = /http\S+\/account\/first-admin\?flow=\w+/.exec(server.output())
      if (link !== null) resolve(link[0])
    }
    server.child.stdout?.on('data', find)
    find()
    const link = await promise
    assert.ok(server.output().includes(`${dataDir}\n`) && server.output().includes(`${dataDir}/outbox\n`))
    assert.doesNotMatch(server.output(), /^\{/m)
    const page = await fetch(link, { headers: { 'user-agent': 'a browser' } })
    assert.equal(page.status, 200)
    const csrf = /name="_csrf" value="([^"]+)"/.exec(await page.text())?.[1] ?? ''
    const flow = new URL(link).searchParams.get('flow') ?? ''
    const made = await fetch(new URL('/account/first-admin', link), {
      method: 'POST',
      redirect: 'manual',
      headers: {
        'user-agent': 'a browser',
        'content-type': 'application/x-www-form-urlencoded',
        cookie: page.headers
          .getSetCookie()
          .map((cookie) => cookie.split(';')[0])
          .join('; '),
      },
      body: new URLSearchParams({ ...admin, flow, _csrf: csrf }),
    })
    assert.equal(made.status, 303, await made.text())
  } finally {
    await server.stop()
  }
  const again = await startDepot(dataDir, { LOG_FORMAT: 'text' })
  await again.stop()
  assert.doesNotMatch(again.output(), /first-admin/)
})

test('without a terminal the log is JSON, and no link that opens the instance is in it', async () => {
  const other = makeDataDir()
  after(other.remove)
  const server = await startDepot(other.dataDir, { HOST: '0.0.0.0', HTTP_PROCESSES: '2' })
  await server.stop()
  const lines = server
    .output()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  const warnings = lines.filter(({ level }) => level === 'warn')
  assert.ok(warnings.some(({ msg }) => /^BASE_URL is not set: links begin with http/.test(msg)))
  const removed = warnings.filter(({ msg }) =>
    /^HTTP_PROCESSES was removed and has no effect: start .*--role api/.test(msg),
  )
  assert.equal(removed.length, 1)
  assert.doesNotMatch(server.output(), /first-admin/)
})
