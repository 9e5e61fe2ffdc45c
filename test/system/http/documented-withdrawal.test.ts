// Runs the commands of docs/publishers/withdrawal.md and docs/publishers/advisories.md against a real server.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { checkOutput, notInstalled, openShell, readSteps } from '#test/support/processes/documented-steps.ts'
import { depot, makeDataDir, startDepot } from '#test/support/processes/running-depot.ts'

const folder = makeDataDir()
after(folder.remove)

test('the commands that withdraw a version and publish an advisory work as written', {
  skip: notInstalled(['curl']),
}, async () => {
  const { dataDir } = folder
  await depot(dataDir, ['seed', '--projects', '20'])
  const account = ['--username', 'warden', '--email', 'warden@example.org', '--password', 'violet-harbour-42x']
  assert.equal((await depot(dataDir, ['user', 'create', ...account, '--role', 'moderator'])).code, 0)
  const scopes = 'PROJECT_READ,VERSION_READ,VERSION_WRITE'
  const created = await depot(dataDir, ['token', 'create', '--user', 'warden', '--scopes', scopes, '--json'])
  assert.equal(created.code, 0, created.stderr)
  const { token } = JSON.parse(created.stdout)
  const server = await startDepot(dataDir)
  const kinds = encodeURIComponent('["version"]')
  const answer = await fetch(`${server.url}/v3/changes?limit=1&kinds=${kinds}`, {
    headers: { 'user-agent': 'depot-test' },
  })
  const { changes } = (await answer.json()) as { changes: { id: string }[] }
  const shell = openShell(dataDir)
  try {
    await shell.run(`BASE=${server.url} TOKEN=${token} VERSION=${changes[0]?.id}\n`)
    for (const chapter of ['Try it', 'Consequences of a withdrawal']) {
      for (const { script, expected } of readSteps('docs/publishers/withdrawal.md', chapter))
        checkOutput(await shell.run(script), expected, script)
    }
    for (const { script, expected } of readSteps('docs/publishers/advisories.md', 'Try it'))
      checkOutput(await shell.run(script), expected, script)
  } finally {
    await shell.end()
    await server.stop()
  }
})
