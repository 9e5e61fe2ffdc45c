// Another commit of Depot, to measure next to this one.
import { execFile, execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type RunningDepot, startDepotBy } from '#test/support/processes/running-depot.ts'
import { PASSWORD, publishProjects } from './publish.ts'
import { BENCH_ENVIRONMENT } from './servers.ts'

const run = promisify(execFile)
const ROOT = join(import.meta.dirname, '../..')
/** Checkouts stay here for the next run. Not in `node_modules`, where Node.js removes no types. */
const FOLDER = join(tmpdir(), 'depot-bench')

const git = (...args: string[]): Buffer => execFileSync('git', args, { cwd: ROOT, maxBuffer: 2 ** 30 })

/**
 * Returns the path of the `depot` program of a commit, with the packages of that commit.
 * @param name a commit, a tag or a branch
 * @throws Error if the repository does not contain it
 */
export async function checkOut(name: string): Promise<string> {
  const commit = git('rev-parse', '--verify', `${name}^{commit}`).toString().trim()
  const folder = join(FOLDER, commit)
  const entry = join(folder, 'bin/depot.mjs')
  if (existsSync(entry)) return entry
  const unfinished = `${folder}.unfinished`
  rmSync(unfinished, { recursive: true, force: true })
  mkdirSync(unfinished, { recursive: true })
  execFileSync('tar', ['-x', '-C', unfinished], { input: git('archive', '--format=tar', commit) })
  const lock = readFileSync(join(unfinished, 'package-lock.json'))
  if (lock.equals(readFileSync(join(ROOT, 'package-lock.json'))))
    symlinkSync(join(ROOT, 'node_modules'), join(unfinished, 'node_modules'))
  else await run('npm', ['ci', '--no-audit', '--no-fund'], { cwd: unfinished })
  renameSync(unfinished, folder)
  return entry
}

export type FilledServer = { server: RunningDepot; token: string; ids: string[] }

/** Starts the program `entry` on an empty data folder with an admin, `bench`, their token and a number of projects. */
export async function startFilled(
  entry: string,
  dataDir: string,
  { projects, started }: { projects: number; started: RunningDepot[] },
): Promise<FilledServer> {
  const server = await startDepotBy([process.execPath, entry, 'serve'], dataDir, BENCH_ENVIRONMENT)
  started.push(server)
  await createUser(entry, dataDir, 'bench', ['--role', 'admin'])
  const token = (await command(entry, dataDir, ['token', 'create', '--user', 'bench', '--scopes', 'all'])).trim()
  return { server, token, ids: await publishProjects(server.url, token, projects) }
}

/** Creates a user with the password of the benchmarks. */
function createUser(entry: string, dataDir: string, name: string, more: string[] = []): Promise<string> {
  const email = `${name}@example.org`
  return command(entry, dataDir, [
    ...['user', 'create', '--username', name, '--email', email, '--password', PASSWORD],
    ...more,
  ])
}

async function command(entry: string, dataDir: string, args: string[]): Promise<string> {
  const { DATABASE_URL: _, ...env } = process.env
  const { stdout } = await run(process.execPath, [entry, ...args], { env: { ...env, DATA_DIR: dataDir } })
  return stdout
}
