// Packs packages/client as the npm package `depot-hosting-client`: JavaScript, types, and the libraries that the client needs,
// so that npx installs it without a registry. Needs no compiler, because a server that runs from a checkout has none; two
// packages of one commit are equal. Writes to the file of the first argument, or to standard output.
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { pack } from 'tar-stream'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const CLIENT = join(ROOT, 'packages/client')
/** The parts of a bundled library that programs and compilers read. */
const BUNDLED = ['package.json', 'LICENSE', 'dist/*.{mjs,cjs,d.mts,d.cts,d.ts}']
/** The time of all entries, which is the one that npm writes. */
const MODIFIED = new Date('1985-10-26T08:15:00Z')

const read = (...path) => readFileSync(join(...path), 'utf8')
const list = (pattern, cwd, exclude = []) => globSync(pattern, { cwd, exclude }).sort()
/** Imports name the files of the package instead of the sources. */
const withImports = (text) => text.replace(/(['"]\.{1,2}\/[^'"\n]+)\.ts(['"])/g, '$1.js$2')

/** Returns the content of each file of the package by its path. */
function clientFiles() {
  const { devDependencies: _, private: __, ...manifest } = JSON.parse(read(CLIENT, 'package.json'))
  const bundled = Object.keys(manifest.dependencies)
  const files = new Map([
    ['package.json', `${JSON.stringify({ ...manifest, bundleDependencies: bundled }, null, 2)}\n`],
    ['LICENSE', read(ROOT, 'LICENSE')],
    ['README.md', read(CLIENT, 'README.md')],
    // The types of the API are a declaration already.
    ['dist/generated/api.d.ts', withImports(read(CLIENT, 'src/generated/api.ts'))],
  ])
  for (const path of list('**/*.ts', join(CLIENT, 'src'), ['generated/api.ts']))
    files.set(`dist/${path.replace(/\.ts$/, '.js')}`, withImports(stripTypeScriptTypes(read(CLIENT, 'src', path))))
  for (const path of list('**/*.d.ts', join(CLIENT, 'generated')))
    files.set(`dist/${path}`, read(CLIENT, 'generated', path))
  for (const name of bundled)
    for (const path of list(BUNDLED, join(ROOT, 'node_modules', name)))
      files.set(`node_modules/${name}/${path}`, read(ROOT, 'node_modules', name, path))
  return files
}

async function packClient() {
  const archive = pack()
  for (const [path, content] of [...clientFiles()].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const mode = path === 'dist/command/main.js' ? 0o755 : 0o644
    archive.entry({ name: `package/${path}`, mode, mtime: MODIFIED }, content)
  }
  archive.finalize()
  return gzipSync(await buffer(archive), { level: 9 })
}

const [target] = process.argv.slice(2)
if (target === undefined) process.stdout.write(await packClient())
else writeFileSync(target, await packClient())
