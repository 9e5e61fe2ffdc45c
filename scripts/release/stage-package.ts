// Writes the folder that becomes the npm package: the sources without types, because Node.js does not remove types below
// node_modules; only what a running Depot reads; the package of the client; the manual page and completions of its commands;
// and the tested version of every dependency.
import { execFileSync } from 'node:child_process'
import { copyFileSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { type Lock, type Manifest, partOfLock, readLock, readManifest } from './lock-part.ts'

const CONTENT = [
  '{bin,src,demo,migrations,taxonomy,deploy,examples}/**',
  'docs/*.md',
  'docs/{api,contributors,generated,operators,publishers,visitors}/**/*.md',
  'scripts/scan-with-clamav.mjs',
  '.env.example',
  'CHANGELOG.md',
  'LICENSE',
  'README.md',
  'SECURITY.md',
]
const NOT_CONTENT = ['**/*.test.ts', '**/*.d.ts', '**/*.d.mts', 'migrations/README.md', 'deploy/debian/**']
/** The manifest of a release has the fields for its users, without those for developers. */
const FIELDS = [
  'name',
  'version',
  'description',
  'license',
  'type',
  'engines',
  'bin',
  'dependencies',
  'optionalDependencies',
  'peerDependencies',
  'peerDependenciesMeta',
] as const

/** Files that a command of Depot prints. */
const PRINTED = {
  'man/depot.1': ['manual'],
  'completions/depot.bash': ['completion', 'bash'],
  'completions/depot.zsh': ['completion', 'zsh'],
  'completions/depot.fish': ['completion', 'fish'],
} as const

/** Writes the package of the sources in `root`, which are those of `commit`. The folder does not exist. */
export function stagePackage(root: string, commit: string, folder: string): void {
  const paths = globSync(CONTENT, { cwd: root, exclude: NOT_CONTENT, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
  for (const path of paths) {
    const target = join(folder, path.replace(/\.ts$/, '.js'))
    mkdirSync(dirname(target), { recursive: true })
    copyFileSync(join(root, path), target)
    if (path.endsWith('.ts')) write(target, withoutTypes(readFileSync(target, 'utf8')))
  }
  writeManifests(root, commit, folder)
  // The server sends it, and has neither the sources of the client nor the libraries that the package bundles.
  const pack = ['--disable-warning=ExperimentalWarning', 'scripts/pack-client.mjs', join(folder, 'client.tgz')]
  execFileSync(process.execPath, pack, { cwd: root })
  for (const [file, words] of Object.entries(PRINTED)) {
    // Without the settings of this machine.
    const command = ['--', 'bin/depot.mjs', '--env-file=/dev/null', ...words]
    write(join(folder, file), execFileSync(process.execPath, command, { cwd: root, env: {} }))
  }
}

/** Types become spaces, so that lines of stack traces are those of the source. Relative names of files follow their files. */
function withoutTypes(source: string): string {
  return stripTypeScriptTypes(source).replaceAll(/'(\.\.?\/[^'\n]*)\.ts'/g, "'$1.js'")
}

function writeManifests(root: string, commit: string, folder: string): void {
  const manifest = readManifest(root)
  const released: Record<string, unknown> = Object.fromEntries(FIELDS.map((field) => [field, manifest[field]]))
  // Sources name their files as they are in the repository.
  released['imports'] = { '#demo/*.ts': './demo/*.js', '#demo/*': './demo/*', '#*.ts': './src/*.js', '#*': './src/*' }
  // The fields of npm for the commit, and for pages that a global installation adds to the manual.
  released['gitHead'] = commit
  released['man'] = ['./man/depot.1']
  released['scripts'] = { postinstall: 'node bin/remove-unused.mjs' }
  const lock = readLock(root)
  const locked = partOfLock(lock, released as Manifest)
  // npm ignores the lock file of a package that it installs from a file, so the manifest names the version of each package.
  released['dependencies'] = versionsOf(lock, locked)
  locked.packages[''] = released as Manifest
  writeJson(join(folder, 'package.json'), released)
  writeJson(join(folder, 'npm-shrinkwrap.json'), locked)
  // For the image and the Debian package: the clients of engines, next to the package.
  const engines = { name: 'depot-engines', version: manifest.version, dependencies: manifest.peerDependencies }
  writeJson(join(folder, 'engines/package.json'), engines)
  writeJson(join(folder, 'engines/npm-shrinkwrap.json'), partOfLock(lock, engines))
}

/** Returns the versions of all packages of a part but the optional ones, whose versions the packages that need them name. */
function versionsOf(lock: Lock, part: Lock): Record<string, string> {
  const versions: Record<string, string> = {}
  for (const path of Object.keys(part.packages)) {
    const [, name, inner] = path.split('node_modules/')
    const { version = '', optional, devOptional } = lock.packages[path] ?? {}
    if (name !== undefined && inner === undefined && !optional && !devOptional) versions[name] = version
  }
  return versions
}

const writeJson = (file: string, value: unknown): void => write(file, `${JSON.stringify(value, null, 2)}\n`)

function write(file: string, content: string | Buffer): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, content)
}
