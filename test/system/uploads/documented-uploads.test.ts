// Runs the commands of docs/api/uploads.md against a real server.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { modJar, projectData } from '#test/support/http/forms.ts'
import { checkOutput, notInstalled, openShell, readSteps } from '#test/support/processes/documented-steps.ts'
import { depot, makeDataDir, startDepot } from '#test/support/processes/running-depot.ts'

const { dataDir, remove } = makeDataDir()
after(remove)

test('the commands for a resumable upload work as written', {
  skip: notInstalled(['curl', 'openssl', 'base64']),
}, async () => {
  const user = ['--username', 'mira', '--email', 'mira@example.org', '--password', 'violet-harbour-lantern-42']
  const server = await startDepot(dataDir)
  await depot(dataDir, ['user', 'create', ...user, '--role', 'admin'])
  const { stdout } = await depot(dataDir, ['token', 'create', '--user', 'mira', '--scopes', 'all'])
  const created = await fetch(`${server.url}/v3/project`, {
    method: 'POST',
    headers: { 'user-agent': 'depot-test', authorization: stdout.trim(), 'content-type': 'application/json' },
    body: JSON.stringify(projectData('documented')),
  })
  const { id } = (await created.json()) as { id: string }
  const file = join(dataDir, 'lantern.jar')
  writeFileSync(file, modJar('documented'))
  const shell = openShell(dataDir)
  try {
    await shell.run(`BASE=${server.url} TOKEN=${stdout.trim()} PROJECT=${id} FILE=${file}\n`)
    for (const { script, expected } of readSteps('docs/api/uploads.md', 'Upload with curl'))
      checkOutput(await shell.run(script), expected, script)
  } finally {
    await shell.end()
    await server.stop()
  }
})
