// Programs of other people's clients: where they are installed, and how one is run.
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const SOURCES = join(import.meta.dirname, '../../clients')
/** Outside the repository, and kept: installing takes longer than the tests. */
const KEPT = process.env['CLIENTS_DIR'] ?? join(tmpdir(), 'depot-clients')
const INSTALL_MS = 600_000
const RUN_MS = 120_000
const INSTALLED = 'installed'

type Command = { file: string; args: string[] }

/** Commands that install a client into its folder and run its program there. */
export type ClientProgram = {
  name: string
  needs: string[]
  install: Command[]
  program: Command
  /** The one host that it knows, where its address is part of its code. */
  onlyHost?: string
}

/** Whether every program that it needs is on this machine. */
export async function canRun({ needs }: ClientProgram): Promise<boolean> {
  const found = await Promise.allSettled(needs.map((program) => run('sh', ['-c', `command -v ${program}`])))
  return found.every(({ status }) => status === 'fulfilled')
}

/**
 * Copies the program's sources to a folder of their state and installs what they name, unless that was done before.
 * @returns the folder.
 * @throws what the installation printed, where a registry does not answer or has not what is named.
 */
export async function installClient({ name, install }: ClientProgram): Promise<string> {
  const folder = join(KEPT, `${name}-${stateOf(join(SOURCES, name))}`)
  if (existsSync(join(folder, INSTALLED))) return folder
  mkdirSync(folder, { recursive: true })
  cpSync(join(SOURCES, name), folder, { recursive: true })
  for (const { file, args } of install) await run(file, args, { cwd: folder, timeout: INSTALL_MS })
  writeFileSync(join(folder, INSTALLED), '')
  return folder
}

function stateOf(folder: string): string {
  const hash = createHash('sha256')
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }).sort(byPath)) {
    if (entry.isFile()) hash.update(entry.name).update(readFileSync(join(entry.parentPath, entry.name)))
  }
  return hash.digest('hex').slice(0, 12)
}

function byPath(a: { parentPath: string; name: string }, b: { parentPath: string; name: string }): number {
  return join(a.parentPath, a.name) < join(b.parentPath, b.name) ? -1 : 1
}

/** Runs the client's program in its folder; fails with the output of the program. */
export async function runClient(cwd: string, { program }: ClientProgram, env: Record<string, string>): Promise<void> {
  await run(program.file, program.args, { cwd, timeout: RUN_MS, env: { ...process.env, ...env } })
}
