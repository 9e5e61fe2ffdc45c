// Writes the folder that becomes the npm package: the sources without types, because Node.js does not remove types below
// node_modules; only what a running Depot reads; and a lock file with the tested version of every dependency.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { dirname, join, matchesGlob } from 'node:path'
import { type Manifest, partOfLock, readLock, readManifest } from './lock-part.ts'

const CONTENT = [
  '{bin,src,demo,migrations,taxonomy,deploy,examples}/**',
  'docs/*.md',
  'docs/{engines,features,generated,guides}/*.md',
  'scripts/scan-with-clamav.mjs',
  '.env.example',
  'CHANGELOG.md',
  'LICENSE',
  'README.md',
  'SECURITY.md',
]
const NOT_CONTENT = ['**/*.test.ts', '**/*.d.ts', 'migrations/README.md', 'deploy/debian/**']
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

/** Writes the content of a commit. The folder is empty or does not exist. */
export function stagePackage(root: string, commit: string, folder: string): void {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const paths = git(root, ['ls-tree', '-r', '--name-only', '-z', commit]).toString().split('\0').filter(isContent)
  const archive = git(root, ['archive', commit, '--', ...paths])
  execFileSync('tar', ['-x', '-C', folder], { input: archive })
  for (const path of paths.filter((name) => name.endsWith('.ts'))) {
    const source = readFileSync(join(folder, path), 'utf8')
    writeFileSync(join(folder, path.replace(/\.ts$/, '.js')), withoutTypes(source))
    rmSync(join(folder, path))
  }
  writeManifests(root, folder)
}

const git = (root: string, words: string[]): Buffer =>
  execFileSync('git', words, { cwd: root, maxBuffer: Number.POSITIVE_INFINITY })

const isContent = (path: string): boolean =>
  CONTENT.some((pattern) => matchesGlob(path, pattern)) && !NOT_CONTENT.some((pattern) => matchesGlob(path, pattern))

/** Types become spaces, so that lines of stack traces are those of the source. Relative names of files follow their files. */
function withoutTypes(source: string): string {
  return stripTypeScriptTypes(source).replaceAll(/'(\.\.?\/[^'\n]*)\.ts'/g, "'$1.js'")
}

function writeManifests(root: string, folder: string): void {
  const manifest = readManifest(root)
  const released: Record<string, unknown> = Object.fromEntries(FIELDS.map((field) => [field, manifest[field]]))
  // Sources name their files as they are in the repository.
  released['imports'] = {
    '#demo/*.ts': './demo/*.js',
    '#demo/*': './demo/*',
    '#*.ts': './src/*.js',
    '#*': './src/*',
  }
  released['scripts'] = { postinstall: 'node bin/remove-unused.mjs' }
  writeJson(join(folder, 'package.json'), released)
  const lock = readLock(root)
  writeJson(join(folder, 'npm-shrinkwrap.json'), partOfLock(lock, released as Manifest))
  // For the image and the Debian package: the clients of engines, next to the package.
  const engines = { name: 'depot-engines', version: manifest.version, dependencies: manifest.peerDependencies }
  writeJson(join(folder, 'engines/package.json'), engines)
  writeJson(join(folder, 'engines/npm-shrinkwrap.json'), partOfLock(lock, engines))
}

function writeJson(file: string, value: unknown): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`)
}
