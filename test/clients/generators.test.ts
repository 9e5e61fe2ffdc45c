// Generates clients by the commands of docs/api/clients/generated.md, compiles them, and runs programs that use them against
// a running Depot.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import { modJar } from '#test/support/http/forms.ts'
import { isReady, KEPT, remainingMs } from '#test/support/processes/client-programs.ts'
import { readBlocks } from '#test/support/processes/documented-steps.ts'
import { blocksOf } from '#test/support/processes/tested-chapters.ts'

const run = promisify(execFile)
const ROOT = join(import.meta.dirname, '../..')
const SOURCES = join(import.meta.dirname, 'generators')
const DOCUMENT = 'docs/api/clients/generated.md'
/** Time limit of the commands of a chapter. */
const GENERATE_MS = 900_000
const OUTPUT_BYTES_MAX = 2 ** 28

/** A chapter of the document. `program` is copied to `place` and run by `command`, both in the folder of all clients. */
type Generator = { chapter: string; needs: string[]; program?: { source: string; place: string; command: string } }

const GENERATORS: Generator[] = [
  {
    chapter: 'Python',
    needs: ['curl', 'java', 'jq', 'python3'],
    program: { source: 'program.py', place: 'program.py', command: 'tools/bin/python program.py' },
  },
  {
    chapter: 'TypeScript',
    needs: ['curl', 'java', 'jq', 'npm', 'python3'],
    program: { source: 'program.mjs', place: 'program.mjs', command: 'node program.mjs' },
  },
  {
    chapter: 'Go',
    needs: ['curl', 'go', 'java', 'jq', 'python3'],
    program: { source: 'main.go', place: 'depot-go/program/main.go', command: 'cd depot-go && go run ./program' },
  },
  {
    chapter: 'Java',
    needs: ['curl', 'javac', 'jq', 'mvn', 'python3'],
    program: {
      source: 'Program.java',
      place: 'depot-java/Program.java',
      command: "cd depot-java && java -cp 'target/classes:target/lib/*' Program.java",
    },
  },
  { chapter: 'Rust', needs: ['cargo', 'curl', 'java', 'jq', 'openssl', 'python3'] },
  { chapter: 'Python with openapi-python-client', needs: ['curl', 'jq', 'python3'] },
  { chapter: 'TypeScript with openapi-typescript', needs: ['curl', 'jq', 'npx', 'python3'] },
  { chapter: 'Go with oapi-codegen', needs: ['curl', 'go', 'jq', 'python3'] },
  { chapter: 'Go with ogen', needs: ['curl', 'go', 'jq', 'python3'] },
]

/** Output of tools that cannot download what they need. */
const UNREACHABLE =
  /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|Could not (?:resolve host|transfer artifact)|dial tcp|NewConnectionError|No matching distribution|failed to download|Could not resolve dependencies/

let t: TestApp
let url: string
let folder: string
before(async () => {
  t = await testApp()
  url = await t.app.listen({ host: '127.0.0.1', port: 0 })
  const description = (await t.anyone.get('/docs/openapi.json')).body
  const state = createHash('sha256').update(description).update(readBlocks(DOCUMENT).join('\n')).digest('hex')
  folder = join(KEPT, `generated-${state.slice(0, 12)}`)
  mkdirSync(folder, { recursive: true })
})
after(() => t?.close())

const nameOf = (chapter: string): string => chapter.replaceAll(' ', '-')

/** Runs a script in the folder of the clients. @throws what it printed. */
async function runScript(script: string, env: Record<string, string> = {}): Promise<void> {
  const variables = { ...process.env, DEPOT_URL: url, CARGO_TARGET_DIR: join(KEPT, 'generated-rust'), ...env }
  await run('bash', ['-eo', 'pipefail', '-c', script], {
    cwd: folder,
    timeout: Math.max(1, Math.min(GENERATE_MS, remainingMs())),
    maxBuffer: OUTPUT_BYTES_MAX,
    env: variables,
  }).catch(({ stdout, stderr, message }: Error & { stdout?: string; stderr?: string }) => {
    throw new Error(`${message.slice(0, 500)}\n${stdout?.slice(-4000)}\n${stderr?.slice(-4000)}`)
  })
}

/** Runs the commands of a chapter, unless they ran before for the same description. */
async function runChapter(chapter: string): Promise<void> {
  const mark = join(folder, `${nameOf(chapter)}.done`)
  if (existsSync(mark)) return
  const blocks = blocksOf(readFileSync(join(ROOT, DOCUMENT), 'utf8'))
  const scripts = blocks.filter((block) => block.chapter === chapter && block.info === 'sh')
  assert.ok(scripts.length > 0, `${DOCUMENT} has no chapter ${chapter}`)
  for (const { content } of scripts) await runScript(content)
  writeFileSync(mark, '')
}

for (const { chapter, needs, program } of GENERATORS) {
  test(chapter, async (context) => {
    if (!(await isReady(context, needs))) return
    try {
      await runChapter('Prepare')
      await runChapter(chapter)
    } catch (error) {
      if (remainingMs() <= 0) return context.skip(`${chapter}: not generated and compiled in time`)
      if (!UNREACHABLE.test(String(error))) throw error
      return context.skip(`${chapter}: a registry does not respond or does not have a tool: ${error}`)
    }
    if (program === undefined) return
    const place = join(folder, program.place)
    cpSync(join(SOURCES, program.source), place, { recursive: true })
    const jars = join(folder, `${nameOf(chapter)}-files`)
    mkdirSync(jars, { recursive: true })
    const [first, jar] = [join(jars, 'lantern-0.9.0.jar'), join(jars, 'lantern-1.0.0.jar')]
    writeFileSync(first, modJar(`${chapter} first`))
    writeFileSync(jar, modJar(chapter))
    const owner = await t.make.account()
    const { token } = await t.make.pat(owner)
    const { slug } = await t.make.project({ owner, slug: `lantern-to-read-${nameOf(chapter).toLowerCase()}` })
    await t.searchable()
    const env = { DEPOT_TOKEN: token, DEPOT_PROJECT: slug, DEPOT_FIRST_JAR: first, DEPOT_JAR: jar }
    await runScript(program.command, env).catch((error: Error) => {
      if (remainingMs() > 0) throw error
      context.skip(`${chapter}: its program did not end in time`)
    })
  })
}

test('each example is a part of the program that runs', () => {
  const blocks = blocksOf(readFileSync(join(ROOT, DOCUMENT), 'utf8'))
  for (const { chapter, program } of GENERATORS.filter((each) => each.program !== undefined)) {
    const example = blocks.find((block) => block.chapter === chapter && block.info.endsWith(' example'))
    const lines = (text: string): string => text.replaceAll(/^[ \t]+/gm, '').trim()
    const text = readFileSync(join(SOURCES, program?.source ?? ''), 'utf8')
    assert.ok(lines(text).includes(lines(example?.content ?? '-')), `${chapter}: the example is not in the program`)
  }
})
