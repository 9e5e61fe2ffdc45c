// Runs the commands of docs/api/webhooks.md against a real server, with the packed client.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { projectData } from '#test/support/http/forms.ts'
import { checkOutput, notInstalled, openShell, readSteps } from '#test/support/processes/documented-steps.ts'
import { freePort } from '#test/support/processes/free-port.ts'
import { installPackedClient } from '#test/support/processes/packed-client.ts'
import { depot, makeDataDir, startDepot } from '#test/support/processes/running-depot.ts'

const { dataDir, remove } = makeDataDir()
const folder = mkdtempSync(join(tmpdir(), 'depot-webhooks-'))
after(remove)
after(() => rmSync(folder, { recursive: true, force: true }))

test('the commands that create a webhook and verify its messages work as written', {
  skip: notInstalled(['curl', 'grep']),
}, async () => {
  const project = await installPackedClient(folder)
  const server = await startDepot(dataDir, { OUTGOING_ALLOW: '127.0.0.1' })
  const user = ['--username', 'mira', '--email', 'mira@example.org', '--password', 'violet-harbour-lantern-42']
  await depot(dataDir, ['user', 'create', ...user, '--role', 'admin'])
  const { stdout } = await depot(dataDir, ['token', 'create', '--user', 'mira', '--scopes', 'all'])
  const created = await fetch(`${server.url}/v3/project`, {
    method: 'POST',
    headers: { 'user-agent': 'depot-test', authorization: stdout.trim(), 'content-type': 'application/json' },
    body: JSON.stringify(projectData('documented')),
  })
  const { id } = (await created.json()) as { id: string }
  const shell = openShell(project)
  try {
    await shell.run(`BASE=${server.url} TOKEN=${stdout.trim()} PROJECT=${id} PORT=${await freePort()}\n`)
    for (const { script, expected } of readSteps('docs/api/webhooks.md', 'Try it'))
      checkOutput(await shell.run(script), expected, script)
  } finally {
    await shell.end()
    await server.stop()
  }
})
