// The client as it would be published, installed into an empty project.
import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

const ROOT = join(import.meta.dirname, '../../..')
const run = promisify(execFile)

/** Packs a package into a folder. Returns the path of the archive. */
async function pack(source: string, folder: string): Promise<string> {
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder], { cwd: source })
  const [packed] = JSON.parse(stdout.slice(stdout.indexOf('[\n')))
  return join(folder, packed.filename)
}

/** Installs the client into `folder/project` without a registry: its dependencies are those of this checkout. */
export async function installPackedClient(folder: string): Promise<string> {
  const project = join(folder, 'project')
  mkdirSync(project)
  const client = await pack(join(ROOT, 'packages/client'), folder)
  const dependencies: Record<string, string> = {}
  for (const name of ['openapi-fetch', 'openapi-typescript-helpers'])
    dependencies[name] = `file:${await pack(join(ROOT, 'node_modules', name), folder)}`
  const manifest = {
    type: 'module',
    private: true,
    dependencies: { 'depot-hosting-client': `file:${client}`, ...dependencies },
    overrides: Object.fromEntries(Object.keys(dependencies).map((name) => [name, `$${name}`])),
  }
  writeFileSync(join(project, 'package.json'), JSON.stringify(manifest))
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund'], { cwd: project })
  return project
}
