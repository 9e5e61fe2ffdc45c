// The client as an instance serves it, installed into an empty project.
import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

const ROOT = join(import.meta.dirname, '../../..')
const run = promisify(execFile)

/** Installs the client into `folder/project` without a registry. Returns the path of the project. */
export async function installPackedClient(folder: string): Promise<string> {
  const project = join(folder, 'project')
  mkdirSync(project)
  const client = join(folder, 'client.tgz')
  const pack = join(ROOT, 'scripts/pack-client.mjs')
  await run(process.execPath, ['--disable-warning=ExperimentalWarning', pack, client])
  const manifest = { type: 'module', private: true, dependencies: { 'depot-hosting-client': `file:${client}` } }
  writeFileSync(join(project, 'package.json'), JSON.stringify(manifest))
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund'], { cwd: project })
  return project
}
