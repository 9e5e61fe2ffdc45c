// Runs the commands of docs/api/changes.md against a real server, and follows an instance across a restore.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { checkOutput, notInstalled, openShell, readSteps } from '#test/support/processes/documented-steps.ts'
import { depot, makeDataDir, startDepot } from '#test/support/processes/running-depot.ts'

type Entry = { kind: string; id: string; state: string }
type Page = { changes: Entry[]; latest: string; details?: { reason: string } }

const first = makeDataDir()
const second = makeDataDir()
after(first.remove)
after(second.remove)

test('the commands that follow the catalogue work as written, and a restored instance begins a new epoch', {
  skip: notInstalled(['curl']),
}, async () => {
  await depot(first.dataDir, ['seed', '--projects', '20'])
  const server = await startDepot(first.dataDir)
  const shell = openShell(first.dataDir)
  try {
    await shell.run(`BASE=${server.url}\n`)
    for (const { script, expected } of readSteps('docs/api/changes.md', 'Try it'))
      checkOutput(await shell.run(script), expected, script)
  } finally {
    await shell.end()
  }
  const read = async (base: string, query = 'limit=1000') => {
    const answer = await fetch(`${base}/v3/changes?${query}`, { headers: { 'user-agent': 'depot-test' } })
    return { status: answer.status, body: (await answer.json()) as Page }
  }
  const before = await read(server.url)
  await server.stop()
  const file = `${first.dataDir}/backup.tar`
  await depot(first.dataDir, ['backup', file])
  const { code, stderr } = await depot(second.dataDir, ['restore', file])
  assert.equal(code, 0, stderr)
  const restored = await startDepot(second.dataDir)
  try {
    const expired = await read(restored.url, `since=${before.body.latest}`)
    assert.deepEqual([expired.status, expired.body.details?.reason], [410, 'epoch'])
    const keys = ({ changes }: Page) =>
      changes.flatMap(({ kind, id, state }) => (state === 'present' ? [`${kind} ${id}`] : [])).sort()
    const after = await read(restored.url)
    assert.ok(after.body.changes.length > 40)
    assert.deepEqual(keys(after.body), keys(before.body))
  } finally {
    await restored.stop()
  }
})
