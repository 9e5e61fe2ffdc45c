// Runs the commands of docs/api/resolve.md against a real server.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { checkOutput, notInstalled, openShell, readSteps } from '#test/support/processes/documented-steps.ts'
import { depot, makeDataDir, startDepot } from '#test/support/processes/running-depot.ts'

const folder = makeDataDir()
after(folder.remove)

test('the commands that choose versions work as written', { skip: notInstalled(['curl']) }, async () => {
  await depot(folder.dataDir, ['seed', '--projects', '60'])
  const server = await startDepot(folder.dataDir)
  const shell = openShell(folder.dataDir)
  try {
    await shell.run(`BASE=${server.url}\n`)
    const steps = readSteps('docs/api/resolve.md', 'Try it')
    assert.ok(steps.length > 1)
    for (const { script, expected } of steps) checkOutput(await shell.run(script), expected, script)
  } finally {
    await shell.end()
    await server.stop()
  }
})
