// Completes package-lock.json after `npm install`. Packages for other platforms get an entry even if the registry could
// not describe them, because `npm ci` rejects a lock file without these entries. Also removes download URLs, so that
// the lock file works with any registry. An argument names another lock file.
import { readFileSync, writeFileSync } from 'node:fs'

const LOCK = process.argv[2] ?? new URL('../package-lock.json', import.meta.url)
const OSES = [
  'android',
  'darwin',
  'linux',
  'win32',
  'windows',
  'freebsd',
  'openharmony',
  'wasm32',
  'linuxmusl',
  'webcontainers',
]
const CPUS = ['arm64', 'x64', 'ia32', 'arm', 'ppc64', 'riscv64', 's390x', 'wasm32', 'loong64', 'mips64el']

function platformOf(name) {
  const words = name.split('/').pop().split('-')
  const os = words.find((word) => OSES.includes(word))
  const cpu = words.find((word) => CPUS.includes(word)) ?? (name.includes('x86_64') ? 'x64' : undefined)
  if (os === undefined && cpu === undefined) return undefined
  const system = { windows: 'win32', linuxmusl: 'linux' }[os] ?? os
  const libc = system !== 'linux' ? undefined : name.includes('musl') ? 'musl' : 'glibc'
  return {
    ...(cpu === undefined ? {} : { cpu: [cpu] }),
    ...(libc === undefined ? {} : { libc: [libc] }),
    optional: true,
    // A package without a known system (WebAssembly builds) must never be chosen here.
    os: [system === undefined || system === 'wasm32' ? 'wasi' : system],
  }
}

const lock = JSON.parse(readFileSync(LOCK, 'utf8'))
for (const [path, entry] of Object.entries(lock.packages)) {
  // The entry of a workspace leads to its folder.
  if (!entry.link) delete entry.resolved
  for (const [name, range] of Object.entries(entry.optionalDependencies ?? {})) {
    const own = `node_modules/${name}`
    if (lock.packages[own] !== undefined || lock.packages[`${path}/${own}`] !== undefined) continue
    const platform = platformOf(name)
    if (platform === undefined) throw new Error(`${path || 'package.json'} offers ${name}: which platform is it for?`)
    lock.packages[own] = { version: range.replace(/^[\^~]/, ''), ...platform, ...(entry.dev ? { dev: true } : {}) }
  }
}
lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)))
writeFileSync(LOCK, `${JSON.stringify(lock, null, 2)}\n`)
