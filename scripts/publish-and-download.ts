// Runs the steps of docs/api/first-requests.md in one program: creates an author and a moderator, publishes a project with a version and
// its file, approves it, downloads the file without an account, and compares the hashes. Needs a running server:
//   node_modules/.bin/node scripts/publish-and-download.ts [--url http://127.0.0.1:8080] [--slug lantern-3f9a]
// Each run without --slug publishes another project.
// The command line creates the accounts. It needs the server's DATA_DIR or DATABASE_URL in the environment.
import { execFile } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { createDepot, type Depot, DepotError, Form } from '#client/index.ts'

const ROOT = join(import.meta.dirname, '..')
const run = promisify(execFile)
const USER_AGENT = 'depot-example/1.0 (example@example.org)'

async function depot(...args: string[]): Promise<Record<string, string>> {
  const { stdout } = await run(process.execPath, [join(ROOT, 'bin/depot.mjs'), ...args, '--json'])
  return JSON.parse(stdout)
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

  const params = { path: { id: slug } }
  const [asAuthor, asModerator, anonymous] = [author, moderator, undefined].map((token) =>
    createDepot({ url, userAgent: USER_AGENT, ...(token === undefined ? {} : { token }) }),
  ) as [Depot, Depot, Depot]

  const file = new File([jar], 'lantern-1.0.0.jar')
  const { id } = await asAuthor.post('/v3/project', { body: new Form(data, { file }) })
  console.log('published')
  const hidden = await anonymous.get('/v3/project/{id}', { params }).catch((error: unknown) => error)
  if (!(hidden instanceof DepotError && hidden.status === 404))
    throw new Error('Everyone can read it before its review')
  console.log('hidden while it waits for review: 404')
  await asModerator.patch('/v3/project/{id}', { params, body: { status: 'approved' } })
  console.log('approved')

  const { versions } = await anonymous.get('/v3/project/{id}', { params })
  const { files } = await anonymous.get('/v3/version/{id}', { params: { path: { id: versions[0] ?? '' } } })
  const [published] = files
  if (published === undefined) throw new Error('The version has no file')
  console.log('read without an account')
  const download = await fetch(published.url, { headers: { 'User-Agent': USER_AGENT } })
  const bytes = Buffer.from(await download.arrayBuffer())
  const sha512 = createHash('sha512').update(bytes).digest('hex')
  console.log(`download: ${download.status}, ${bytes.length} bytes, SHA-512 ${sha512.slice(0, 16)}…`)
  if (sha512 !== published.hashes.sha512 || !bytes.equals(jar))
    throw new Error('The download is not what was published')
  console.log(`The hashes agree. Project ${id}: ${url}/v3/project/${slug}`)
}

await main()
