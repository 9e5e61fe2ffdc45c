// Uploads of the client against the application: cut connections, a killed process, and versions of the uploads.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { createDepot, type Depot, type UploadProgress } from '#client/index.ts'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import { modJar, versionData } from '#test/support/http/forms.ts'
import { startCuttingProxy } from '#test/support/http/tus-steps.ts'

let t: TestApp
let url: string
let project: { id: string }
let token: string
let folder: string
before(async () => {
  t = await testApp()
  url = await t.app.listen({ host: '127.0.0.1', port: 0 })
  const made = await t.make.project()
  project = made
  token = (await t.make.pat(made.owner)).token
  folder = mkdtempSync(join(tmpdir(), 'depot-client-'))
})
after(async () => {
  rmSync(folder, { recursive: true })
  await t?.close()
})

const open = (at: string): Depot => createDepot({ url: at, token, userAgent: 'depot-tests/1.0' })
const archive = (salt: string, size = 1_500_000): Buffer =>
  modJar(salt, [{ name: 'noise.bin', data: randomBytes(size), stored: true }])

async function assertPublished(upload: { id: string }, number: string, bytes: Buffer): Promise<void> {
  const data = {
    ...versionData({ version_number: number }),
    project_id: project.id,
    file_parts: [`upload:${upload.id}`],
  }
  const version = await open(url).post('/v3/version', { body: data as never })
  assert.equal(version.files[0]?.hashes.sha512, createHash('sha512').update(bytes).digest('hex'))
}

test('an upload through connections that are cut at random places arrives', async () => {
  const bytes = archive('cut')
  const proxy = await startCuttingProxy([url], { cuts: 6, maxBytes: 500_000 })
  const progress: UploadProgress[] = []
  try {
    const file = new File([Uint8Array.from(bytes)], 'cut.jar')
    const upload = await open(proxy.url).upload(file, { partBytes: 400_000, onProgress: (step) => progress.push(step) })
    assert.ok(proxy.cuts() > 0, 'No connection was cut')
    const sent = progress.map((step) => step.sent)
    assert.deepEqual(
      sent,
      sent.toSorted((a, b) => a - b),
    )
    assert.deepEqual(progress.at(-1), { sent: bytes.length, total: bytes.length })
    await assertPublished(upload, '1.0.0', bytes)
  } finally {
    await proxy.close()
  }
})

test('large files are uploaded before their version', async () => {
  const bytes = archive('published', 100_000)
  const sources = archive('sources', 50_000)
  const files = [
    new File([Uint8Array.from(bytes)], 'lamp.jar'),
    new File([Uint8Array.from(sources)], 'lamp-sources.jar'),
  ]
  const progress: number[] = []
  const data = { ...versionData({ version_number: '1.1.0' }), project_id: project.id, primary_file: 'lamp-sources.jar' }
  const options = { inParts: true, onProgress: ({ sent }: UploadProgress) => progress.push(sent) }
  const version = await open(url).publish(data as never, files, options)
  assert.deepEqual(
    version.files.map(({ filename, primary, size }) => [filename, primary, size]),
    [
      ['lamp-sources.jar', true, sources.length],
      ['lamp.jar', false, bytes.length],
    ],
  )
  assert.deepEqual(progress, [0, bytes.length, bytes.length, bytes.length + sources.length])
})

const PROGRAM = `
import { openAsBlob, readFileSync, writeFileSync } from 'node:fs'
import { createDepot } from '#client/index.ts'
const [url, token, path, state] = process.argv.slice(2)
const read = () => { try { return JSON.parse(readFileSync(state, 'utf8')) } catch { return {} } }
const write = (change) => writeFileSync(state, JSON.stringify(change(read())))
const resume = {
  getItem: (key) => read()[key] ?? null,
  setItem: (key, value) => write((all) => ({ ...all, [key]: value })),
  removeItem: (key) => write(({ [key]: _, ...rest }) => rest),
}
const file = new File([await openAsBlob(path)], 'killed.jar', { lastModified: 0 })
const onProgress = ({ sent }) => console.log(sent)
const { id } = await createDepot({ url, token, userAgent: 'depot-tests/1.0' }).upload(file, { partBytes: 100_000, resume, onProgress })
console.log(id)
`

test('another process continues an upload whose process was killed', async () => {
  const bytes = archive('killed')
  const [path, state] = [join(folder, 'killed.jar'), join(folder, 'state.json')]
  writeFileSync(path, bytes)
  const start = () => {
    const args = ['--input-type=module', '-', url, token, path, state]
    const child = execFile(process.execPath, args, { cwd: join(import.meta.dirname, '../..') })
    child.stdin?.end(PROGRAM)
    const lines: string[] = []
    child.stdout?.on('data', (text: string) => lines.push(...text.trim().split('\n')))
    child.stderr?.pipe(process.stderr)
    return { child, lines }
  }
  const first = start()
  const exited = once(first.child, 'exit')
  // Kills it in the middle.
  first.child.stdout?.on('data', () => Number(first.lines.at(-1)) >= 500_000 && first.child.kill('SIGKILL'))
  const [, signal] = await exited
  assert.equal(signal, 'SIGKILL')
  assert.ok(existsSync(state) && Object.keys(JSON.parse(readFileSync(state, 'utf8'))).length === 1)
  const second = start()
  const [code] = await once(second.child, 'exit')
  assert.equal(code, 0)
  assert.ok(Number(second.lines[0]) >= 500_000, `The second process began at ${second.lines[0]}`)
  await assertPublished({ id: second.lines.at(-1) ?? '' }, '1.2.0', bytes)
  assert.equal(readFileSync(state, 'utf8'), '{}')
})
