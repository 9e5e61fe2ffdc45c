// Uploads through the page for versions into a server process: the largest file, a file above the limit, and an upload that
// is cut off. The content is generated while it is sent, and the server keeps its memory.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { Readable } from 'node:stream'
import { after, before, test } from 'node:test'
import { projectData } from '#test/support/http/forms.ts'
import { depot, makeDataDir, type RunningDepot, startDepot } from '#test/support/processes/running-depot.ts'

const PASSWORD = 'violet-harbour-lantern-42'
const MEBIBYTE = 1024 * 1024
const LIMIT = 500 * MEBIBYTE
/**
 * Growth of the memory of the server during an upload. It was between 60 and 165 MB, depending on when garbage is collected;
 * a file in memory would need more than 500.
 */
const GROWTH_MB_MAX = 300

const { dataDir, remove } = makeDataDir()
let server: RunningDepot
let session: string
let page: string
before(async () => {
  server = await startDepot(dataDir, { NODE_ENV: 'production', LOG_LEVEL: 'warn' })
  const account = ['user', 'create', '--username', 'ida-marsh', '--email', 'ida@example.org', '--password', PASSWORD]
  await depot(dataDir, [...account, '--role', 'admin'])
  const json = { 'content-type': 'application/json' }
  const login = await fetch(`${server.url}/_internal/auth/login`, {
    method: 'POST',
    body: JSON.stringify({ username: 'ida-marsh', password: PASSWORD }),
    headers: json,
  })
  session = ((await login.json()) as { session: string }).session
  const made = await fetch(`${server.url}/v3/project`, {
    method: 'POST',
    body: JSON.stringify(projectData('lantern')),
    headers: { ...json, authorization: session },
  })
  assert.equal(made.status, 201, await made.text())
  page = `${server.url}/project/lantern/versions/new`
})
after(async () => {
  await server?.stop()
  remove()
})

type OpenPage = { cookie: string; token: string }
async function openPage(url: string): Promise<OpenPage> {
  const answer = await fetch(url, { headers: { cookie: `depot-session=${session}`, accept: 'text/html' } })
  const cookies = answer.headers.getSetCookie().map((text) => text.split(';')[0])
  const token = /name="_csrf" value="([^"]+)"/.exec(await answer.text())?.[1] ?? ''
  assert.notEqual(token, '', `${url}: ${answer.status}`)
  return { cookie: [`depot-session=${session}`, ...cookies].join('; '), token }
}

type Part = { filename: string; bytes: number }
/** The body of the form: the token, the button, and files of zeros. */
function* bodyOf({ token }: OpenPage, parts: readonly Part[]): Generator<Buffer> {
  const field = (name: string, more = '') => `--b\r\ncontent-disposition: form-data; name="${name}"${more}\r\n\r\n`
  yield Buffer.from(`${field('_csrf')}${token}\r\n${field('do')}upload\r\n`)
  const chunk = Buffer.alloc(MEBIBYTE)
  for (const { filename, bytes } of parts) {
    yield Buffer.from(field('files', `; filename="${filename}"`))
    for (let left = bytes; left > 0; left -= chunk.length) yield chunk.subarray(0, Math.min(left, chunk.length))
    yield Buffer.from('\r\n')
  }
  yield Buffer.from('--b--\r\n')
}

function open(url: string, { cookie }: OpenPage): ClientRequest {
  return request(url, {
    method: 'POST',
    headers: {
      cookie,
      accept: 'text/html',
      'content-type': 'multipart/form-data; boundary=b',
      'user-agent': 'page-uploads.test',
    },
  })
}

async function send(url: string, parts: readonly Part[]): Promise<{ status: number; location: string; text: string }> {
  const opened = await openPage(url)
  const req = open(url, opened)
  const answered = new Promise<IncomingMessage>((resolve, reject) => req.on('response', resolve).on('error', reject))
  Readable.from(bodyOf(opened, parts)).pipe(req)
  const answer = await answered
  const text = Buffer.concat(await answer.toArray()).toString()
  return { status: answer.statusCode ?? 0, location: answer.headers.location ?? '', text }
}

const residentMb = (): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.child.pid}/status`, 'utf8'))?.[1] ?? 0) / 1024

async function growthMb(act: () => Promise<unknown>): Promise<number> {
  const before = residentMb()
  let peak = before
  const watch = setInterval(() => {
    peak = Math.max(peak, residentMb())
  }, 20)
  await act().finally(() => clearInterval(watch))
  return peak - before
}

const draftOf = async (url: string) => {
  const id = new URL(url).searchParams.get('draft')
  const answer = await fetch(`${server.url}/v3/version/${id}`, { headers: { authorization: session } })
  return (await answer.json()) as { files: { filename: string; size: number }[] }
}

test('a file of 500 MiB is stored, and one byte more is refused without costing the other file', async () => {
  let location = ''
  const growth = await growthMb(async () => {
    const answer = await send(page, [{ filename: 'largest.sig', bytes: LIMIT }])
    assert.equal(answer.status, 303, answer.text)
    location = answer.location
  })
  assert.ok(growth <= GROWTH_MB_MAX, `grew by ${growth} MB`)
  const draft = String(new URL(location, server.url))
  const refused = await send(draft, [
    { filename: 'larger.sig', bytes: LIMIT + 1 },
    { filename: 'small.sig', bytes: 10 },
  ])
  assert.equal(refused.status, 400)
  assert.match(refused.text, /The file has 501 MiB\. The limit is 500 MiB\./)
  const { files } = await draftOf(draft)
  assert.deepEqual(files.map(({ filename, size }) => [filename, size]).sort(), [
    ['largest.sig', LIMIT],
    ['small.sig', 10],
  ])
})

test('an upload that is cut off stores nothing, and can be repeated', async () => {
  const created = await send(page, [{ filename: 'first.sig', bytes: 7 }])
  const draft = String(new URL(created.location, server.url))
  const opened = await openPage(draft)
  const req = open(draft, opened)
  const failed = new Promise<void>((resolve) => req.on('error', () => resolve()).on('close', () => resolve()))
  const body = bodyOf(opened, [{ filename: 'cut.sig', bytes: 50 * MEBIBYTE }])
  for (let sent = 0; sent < 20; sent += 1) {
    const { value } = body.next()
    if (value !== undefined && !req.write(value)) await new Promise((resolve) => req.once('drain', resolve))
  }
  req.destroy()
  await failed
  assert.deepEqual(
    (await draftOf(draft)).files.map(({ filename }) => filename),
    ['first.sig'],
  )
  const again = await send(draft, [{ filename: 'cut.sig', bytes: 3 * MEBIBYTE }])
  assert.equal(again.status, 303, again.text)
  assert.equal((await draftOf(draft)).files.length, 2)
  // The server discards what it has received when it notices that the connection is closed.
  while (stagedFiles().length > 0) await draftOf(draft)
})

/** Files that wait in the staging folder. */
function stagedFiles(): string[] {
  return readdirSync(dataDir, { recursive: true })
    .map(String)
    .filter((name) => /(^|\/)staging\//.test(name))
}
