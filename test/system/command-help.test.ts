// The help of the command line, with any Node.js from 20 and from any folder.
import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import { COMMANDS } from '#cli/commands.ts'
import { createProgress, shownBytes, withProgress } from '#cli/kit/progress.ts'
import { commandHere } from '#test/support/processes/command-here.ts'

const ROOT = join(import.meta.dirname, '../..')
const SCRIPT = join(ROOT, 'bin/depot')
const run = promisify(execFile)
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
const commit = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: ROOT, encoding: 'utf8' })
const versionLine = `${version} (${commit.slice(0, 12)})\n`

const folder = mkdtempSync(join(tmpdir(), 'depot-help-'))
after(() => rmSync(folder, { recursive: true, force: true }))

test('--version and help are answers: exit code 0, on standard output, and nothing is loaded for them', async () => {
  assert.deepEqual(await run(SCRIPT, ['--version'], { cwd: folder }), { stdout: versionLine, stderr: '' })
  for (const args of [['help'], ['--help'], ['-h']]) {
    const { stdout, stderr } = await run(SCRIPT, args, { cwd: folder })
    assert.equal(stderr, '')
    assert.match(stdout, /^Usage: depot COMMAND\n {2}serve /)
  }
})

test('every command has help, asked for in either way', async () => {
  for (const { name, about } of COMMANDS) {
    const words = name.split(' ')
    const asked = await commandHere(['help', ...words], {})
    assert.match(asked.stdout, new RegExp(`^Usage: depot ${name}[ \\n]`))
    assert.ok(asked.stdout.includes(about))
    assert.deepEqual(await commandHere([...words, '--help'], {}), asked)
  }
  const family = await commandHere(['help', 'user'], {})
  assert.match(family.stdout, /^Usage: depot user COMMAND\n {2}user create [\s\S]*\n {2}user role /)
  await assert.rejects(run(SCRIPT, ['help', 'nonsense']), { code: 2 })
})

test('help loads neither the server nor a library', async () => {
  const { stdout } = await run(process.execPath, [
    '--input-type=module',
    '-e',
    `import { registerHooks } from 'node:module'
     const urls = []
     registerHooks({ load: (url, context, next) => { urls.push(url); return next(url, context) } })
     const { main } = await import(${JSON.stringify(join(ROOT, 'src/cli/main.ts'))})
     await main(['help', 'backup'], {})
     console.log(JSON.stringify(urls))`,
  ])
  const urls: string[] = JSON.parse(stdout.trim().split('\n').at(-1) ?? '')
  const heavy = urls.filter((url) => url.includes('node_modules') || /(serve|boot|app|with-deps)\.ts$/.test(url))
  assert.deepEqual(heavy, [])
})

test('it runs through a link, and by the Node of the machine', async () => {
  const link = join(folder, 'depot')
  symlinkSync(SCRIPT, link)
  assert.equal((await run(link, ['--version'], { cwd: folder })).stdout, versionLine)
  const { stdout } = await run('npx', ['--no-install', 'depot', '--version'], { cwd: ROOT })
  assert.equal(stdout, versionLine)
})

function terminal(isTTY: boolean) {
  let text = ''
  const add = (part: string): boolean => {
    text += part
    return true
  }
  const stream = { isTTY, columns: 80, write: (part: string) => add(part) } as never
  return { stream, text: () => text }
}

test('shows progress until the work ends, even if nothing new is reported', async () => {
  const told = Promise.withResolvers<void>()
  let time = 0
  const stream = { isTTY: true, columns: 80, write: () => told.resolve() } as never
  const result = await withProgress({ label: 'Migrations', stream, now: () => time }, async (update) => {
    update(1, 3)
    time = 1_500
    await told.promise
    return 'done'
  })
  assert.equal(result, 'done')
})

test('progress is a bar on a terminal and lines elsewhere, and silent for the first second', () => {
  for (const isTTY of [true, false]) {
    let time = 0
    const { stream, text } = terminal(isTTY)
    const progress = createProgress({ label: 'Copying files', format: shownBytes, stream, now: () => time })
    progress.update(1, 10)
    assert.equal(text(), '')
    time = 1_500
    progress.update(5_000_000, 10_000_000)
    progress.update(5_000_001, 10_000_000)
    progress.end()
    const shown = '5.0 MB of 10.0 MB'
    assert.equal(
      text(),
      isTTY
        ? `\r\x1b[KCopying files [${'#'.repeat(12)}${'-'.repeat(12)}] ${shown}\r\x1b[K`
        : `Copying files: ${shown}\n`,
    )
  }
})
