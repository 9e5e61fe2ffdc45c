// Runs the steps of the README in one program: creates an author and a moderator, publishes a project with a version and
// its file, approves it, downloads the file without an account, and compares the hashes. Needs a running server:
//   node_modules/.bin/node scripts/publish-and-download.ts [--url http://127.0.0.1:8080] [--slug lantern-3f9a]
// Each run without --slug publishes another project.
// The command line creates the accounts. It needs the server's DATA_DIR or DATABASE_URL in the environment.
import { execFile } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs, promisify } from 'node:util'

const ROOT = join(import.meta.dirname, '..')
const run = promisify(execFile)

async function depot(...args: string[]): Promise<Record<string, string>> {
  const { stdout } = await run(process.execPath, [join(ROOT, 'bin/depot.mjs'), ...args, '--json'])
  return JSON.parse(stdout)
}

type Answer = { status: number; body: Record<string, unknown> }

async function call(url: string, init: RequestInit & { token?: string } = {}): Promise<Answer> {
  const headers = {
    'User-Agent': 'depot-example/1.0 (example@example.org)',
    ...(init.token === undefined ? {} : { Authorization: init.token }),
  }
  const response = await fetch(url, { ...init, headers: { ...headers, ...init.headers } })
  const text = await response.text()
  return { status: response.status, body: text === '' ? {} : JSON.parse(text) }
}

function expect(answer: Answer, status: number, step: string): Answer {
  if (answer.status !== status) throw new Error(`${step}: ${answer.status} ${JSON.stringify(answer.body)}`)
  console.log(`${step}: ${answer.status}`)
  return answer
}

/** Ends the program if no server responds, before it creates accounts. */
async function requireServer(url: string): Promise<void> {
  try {
    await fetch(`${url}/health`)
  } catch {
    console.error(`No server responds at ${url}. Start Depot with npm start, or name its URL with --url.`)
    process.exit(1)
  }
}

/** An account with a token of every scope that tokens may hold. */
async function person(username: string, role: 'developer' | 'moderator'): Promise<string> {
  const password = `violet-${Math.random().toString(36).slice(2)}-harbour`
  await depot(
    'user',
    'create',
    '--username',
    username,
    '--email',
    `${username}@example.org`,
    '--password',
    password,
    '--role',
    role,
  )
  const { token } = await depot('token', 'create', '--user', username, '--scopes', 'all')
  if (token === undefined) throw new Error('The command line printed no token')
  console.log(`account ${username} (${role}) with a token`)
  return token
}

/**
 * Appends a comment to the archive, so that each slug has a different file: a file can belong to one project only. The
 * last two bytes of a zip without a comment are the comment's length.
 */
function withComment(zip: Buffer, comment: string): Buffer {
  const tail = Buffer.from(`__${comment}`)
  tail.writeUInt16LE(tail.length - 2)
  return Buffer.concat([zip.subarray(0, -2), tail])
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { url: { type: 'string' }, slug: { type: 'string' } } })
  const url = values.url ?? process.env['BASE_URL'] ?? 'http://127.0.0.1:8080'
  const slug = values.slug ?? `lantern-${randomBytes(2).toString('hex')}`
  const jar = withComment(await readFile(join(ROOT, 'examples/lantern-1.0.0.jar')), slug)
  const data = { ...JSON.parse(await readFile(join(ROOT, 'examples/project.json'), 'utf8')), slug }

  await requireServer(url)
  const author = await person(`${slug}-author`, 'developer')
  const moderator = await person(`${slug}-moderator`, 'moderator')

  const form = new FormData()
  form.append('data', JSON.stringify(data))
  form.append('file', new Blob([jar]), 'lantern-1.0.0.jar')
  const created = expect(await call(`${url}/v3/project`, { method: 'POST', token: author, body: form }), 201, 'publish')
  expect(await call(`${url}/v3/project/${slug}`), 404, 'read while it waits for review')
  const approve = {
    method: 'PATCH',
    token: moderator,
    body: JSON.stringify({ status: 'approved' }),
    headers: { 'Content-Type': 'application/json' },
  }
  expect(await call(`${url}/v3/project/${slug}`, approve), 204, 'approve')

  const project = expect(await call(`${url}/v3/project/${slug}`), 200, 'read without an account')
  const [versionId] = project.body['versions'] as string[]
  const version = expect(await call(`${url}/v3/version/${versionId}`), 200, 'read the version')
  const [file] = version.body['files'] as { url: string; hashes: { sha512: string; sha1: string } }[]
  if (file === undefined) throw new Error('The version has no file')
  const download = await fetch(file.url, { headers: { 'User-Agent': 'depot-example/1.0' } })
  const bytes = Buffer.from(await download.arrayBuffer())
  const sha512 = createHash('sha512').update(bytes).digest('hex')
  console.log(`download: ${download.status}, ${bytes.length} bytes, SHA-512 ${sha512.slice(0, 16)}…`)
  if (sha512 !== file.hashes.sha512 || !bytes.equals(jar)) throw new Error('The download is not what was published')
  console.log(`The hashes agree. Project ${String(created.body['id'])}: ${url}/v3/project/${slug}`)
}

await main()
