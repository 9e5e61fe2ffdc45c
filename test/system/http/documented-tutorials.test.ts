// Runs the commands of docs/api/first-requests.md and docs/api/manage-a-team.md against a real server.
import assert from 'node:assert/strict'
import { cpSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { checkOutput, notInstalled, openShell, readSteps } from '#test/support/processes/documented-steps.ts'
import { ENTRY, makeDataDir, startDepot } from '#test/support/processes/running-depot.ts'

const ROOT = join(import.meta.dirname, '../../..')
const TEAM = 'docs/api/manage-a-team.md'
const folder = makeDataDir()
after(folder.remove)

test('the tutorials for API users work as written', { skip: notInstalled(['curl']) }, async () => {
  const work = join(folder.dataDir, 'work')
  cpSync(join(ROOT, 'examples'), join(work, 'examples'), { recursive: true })
  mkdirSync(join(work, 'data'))
  const dataDir = join(folder.dataDir, 'data')
  const server = await startDepot(dataDir)
  const shell = openShell(work, { env: { DATA_DIR: dataDir } })
  const written = (script: string): string =>
    script
      .replaceAll('http://127.0.0.1:8080', server.url)
      .replaceAll('npm run --silent depot --', `'${process.execPath}' '${ENTRY}'`)
  try {
    let lines: string[] = []
    // Responses end without a line break, and the shell ends a block with a line.
    for (const { script } of readSteps('docs/api/first-requests.md', 'Publish a project and download its file'))
      lines = await shell.run(`${written(script)}echo\n`)
    const hashes = lines.filter((line) => /^[0-9a-f]{128} /.test(line)).map((line) => line.split(' ')[0])
    assert.equal(hashes.length, 2)
    assert.equal(hashes[0], hashes[1])
    for (const [, chapter = ''] of readFileSync(join(ROOT, TEAM), 'utf8').matchAll(/^## (.+)$/gm)) {
      if (chapter === 'Rules') continue
      for (const { script, expected } of readSteps(TEAM, chapter))
        checkOutput(await shell.run(written(script)), expected, script)
    }
  } finally {
    await shell.end()
    await server.stop()
  }
})
