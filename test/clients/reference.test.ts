// Runs examples of the API reference in each language against a running Depot.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import { modJar } from '#test/support/http/forms.ts'
import { type ClientProgram, isReady, openClient } from '#test/support/processes/client-programs.ts'
import { type ApiDocument, describeResources, type Operated } from '#web/reference/describe.ts'
import { type ExampleLanguage, writeExample } from '#web/reference/examples.ts'

const run = promisify(execFile)
const RUN_MS = 120_000
/** Programs and libraries that examples need in addition to their language. */
const NEEDS: Partial<Record<ExampleLanguage, ClientProgram>> = {
  python: {
    name: 'requests',
    needs: ['python3'],
    install: [
      { file: 'python3', args: ['-m', 'venv', 'venv'] },
      { file: 'venv/bin/pip', args: ['install', '--quiet', '-r', 'requirements.txt'] },
    ],
    program: { file: 'venv/bin/python', args: [] },
  },
  // Go compiles its standard library once, which can take longer than an example may run.
  go: {
    name: 'reference-go',
    needs: ['go'],
    install: [],
    build: [{ file: 'go', args: ['build', 'encoding/json', 'mime/multipart', 'net/http'] }],
    program: { file: 'go', args: [] },
  },
}
const RUNNERS: Record<ExampleLanguage, { needs: string; file: string; command: (path: string) => [string, string[]] }> =
  {
    curl: { needs: 'curl', file: 'example.sh', command: (path) => ['bash', [path]] },
    javascript: { needs: 'node', file: 'example.mjs', command: (path) => ['node', [path]] },
    python: { needs: 'python3', file: 'example.py', command: (path) => ['python3', [path]] },
    go: { needs: 'go', file: 'example.go', command: (path) => ['go', ['run', path]] },
    java: { needs: 'javac', file: 'Example.java', command: (path) => ['java', [path]] },
  }

let t: TestApp
let url: string
let folder: string
let operations: Operated[]
before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'depot-reference-test-'))
  t = await testApp()
  url = await t.app.listen({ host: '127.0.0.1', port: 0 })
  const document: ApiDocument = (await t.anyone.get('/docs/openapi.json')).json()
  operations = describeResources(document).flatMap((resource) => resource.operations)
})
after(async () => {
  await t?.close()
  rmSync(folder, { recursive: true, force: true })
})

for (const [language, { needs, file, command }] of Object.entries(RUNNERS) as [
  ExampleLanguage,
  (typeof RUNNERS)['go'],
][])
  test(language, async (context) => {
    if (!(await isReady(context, [needs]))) return
    // Content belongs to the first project that publishes it.
    writeFileSync(join(folder, 'lantern-1.0.0.jar'), modJar(language))
    let [program, args] = command(join(folder, file))
    const more = NEEDS[language]
    if (more !== undefined) {
      const installed = await openClient(context, more)
      if (installed === undefined) return
      if (language === 'python') program = join(installed, more.program.file)
    }
    const owner = await t.make.account()
    const { token } = await t.make.pat(owner)
    const project = await t.make.project({ owner })
    const runExample = async (id: string, sample?: unknown): Promise<string> => {
      const operation = operations.find((each) => each.id === id)
      assert.ok(operation !== undefined)
      const body = operation.body === undefined || sample === undefined ? operation.body : { ...operation.body, sample }
      const text = writeExample(language, { ...operation, body }, url).replaceAll('AABBCCDD', project.id)
      writeFileSync(join(folder, file), text)
      const env = { ...process.env, DEPOT_TOKEN: token }
      return (await run(program, args, { cwd: folder, timeout: RUN_MS, env })).stdout
    }
    assert.match(await runExample('getProject'), new RegExp(`"slug":"${project.slug}"`))
    assert.match(await runExample('createVersion'), /"version_number":"1\.0\.0"/)
    assert.match(await runExample('listProjectVersions'), /"version_number":"1\.0\.0"/)
    const changed = await runExample('updateProject', { summary: 'Light for "long" nights, it\'s `bright`' })
    assert.doesNotMatch(changed, /"error"/)
    assert.match(await runExample('getProject'), /it's `bright`/)
  })
