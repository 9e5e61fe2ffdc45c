// The part of package-lock.json that some dependencies need.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export type Manifest = {
  name: string
  version: string
  license?: string | undefined
  dependencies?: Record<string, string> | undefined
  optionalDependencies?: Record<string, string> | undefined
  peerDependencies?: Record<string, string> | undefined
  peerDependenciesMeta?: Record<string, { optional?: boolean }>
}
export type Entry = Partial<Manifest> & {
  dev?: boolean
  devOptional?: boolean
  optional?: boolean
  peer?: boolean
  deprecated?: string
}
export type Lock = { lockfileVersion: number; packages: Record<string, Entry> }

const read = (root: string, name: string) => JSON.parse(readFileSync(join(root, name), 'utf8'))
export const readManifest = (root: string): Manifest & Record<string, unknown> => read(root, 'package.json')
export const readLock = (root: string): Lock => read(root, 'package-lock.json')

/** Returns the manifest of a release with the packages that an installation can leave out, and those in its client. */
export function readCompleteManifest(root: string): Manifest {
  const { name, version, license, dependencies, optionalDependencies, peerDependencies } = readManifest(root)
  const { dependencies: bundled } = readManifest(join(root, 'packages/client'))
  const all = { ...dependencies, ...peerDependencies, ...bundled }
  return { name, version, license, dependencies: all, optionalDependencies }
}

/** Returns a lock file for a manifest whose dependencies are locked in `lock`. Optional peers are left out. */
export function partOfLock(lock: Lock, manifest: Manifest): Lock & { name: string; version: string } {
  const needed = new Set<string>()
  const waiting: [path: string, entry: Entry][] = [['', manifest]]
  for (const [path, entry] of waiting) {
    for (const name of namesOf(entry)) {
      const found = find(lock, path, name)
      if (needed.has(found)) continue
      needed.add(found)
      waiting.push([found, lock.packages[found] ?? {}])
    }
  }
  const { name, version } = manifest
  const packages: Record<string, Entry> = { '': manifest }
  for (const path of [...needed].sort()) {
    const { dev: _, devOptional: __, peer: ___, ...entry } = lock.packages[path] ?? {}
    packages[path] = entry
  }
  return { name, version, lockfileVersion: lock.lockfileVersion, packages }
}

function namesOf(entry: Entry): string[] {
  const { dependencies, optionalDependencies, peerDependencies = {}, peerDependenciesMeta = {} } = entry
  const peers = Object.keys(peerDependencies).filter((name) => peerDependenciesMeta[name]?.optional !== true)
  return Object.keys({ ...dependencies, ...optionalDependencies }).concat(peers)
}

/** Returns the path of the package that `name` means in a package at `path`: the nearest one, as for Node.js. */
function find(lock: Lock, path: string, name: string): string {
  for (let at = path; ; at = at.slice(0, Math.max(0, at.lastIndexOf('/node_modules/')))) {
    const own = `${at}${at === '' ? '' : '/'}node_modules/${name}`
    if (lock.packages[own] !== undefined) return own
    if (at === '') throw new Error(`package-lock.json has no entry for ${name}, which ${path || 'package.json'} needs`)
  }
}
