#!/usr/bin/env node
// Entry point of all commands. Plain JavaScript, so that an older Node.js can start the Node.js that Depot includes.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
/** Half of V8's default size for new objects. Smaller sizes cost time (docs/decisions/operations/0083). */
const SMALL_YOUNG_HEAP = '--max-semi-space-size=32'

if (major < 24 || (major === 24 && minor < 12)) await handOver()
else await start()

async function start() {
  if (process.argv.includes('serve')) limitMemory()
  const { args, dataDir, ...prepared } = (await import('./prepare.mjs')).prepare(process.argv.slice(2))
  // File access, archives, images and password hashes share these threads. Node.js reads the variable only when it starts
  // the first thread, so set it before any import.
  process.env.UV_THREADPOOL_SIZE ??= '16'
  const { enableCompileCache } = await import('node:module')
  const folder = (await import('./compile-cache.mjs')).compileCache(dataDir)
  if (folder !== undefined) enableCompileCache(folder)
  await import('./resolve.mjs')
  const { main } = await import('#cli/main.ts')
  const { watchOutput } = await import('#cli/kit/watch-output.ts')
  watchOutput({ isServer: args[0] === 'serve' })
  await main(args, process.env, prepared)
}

/**
 * Starts this program again in the same process, with the settings of a server: the allocator and V8 read them only when a
 * program starts. Does nothing on Windows, which has no `execve`, and under `node --watch`, which follows the first program.
 */
function limitMemory() {
  if (process.execve === undefined || process.channel !== undefined || process.execArgv.includes(SMALL_YOUNG_HEAP))
    return
  const words = [process.execPath, ...process.execArgv, SMALL_YOUNG_HEAP, ...process.argv.slice(1)]
  // Without it, glibc reserves memory for each thread. Other systems ignore the variable.
  process.execve(process.execPath, words, { MALLOC_ARENA_MAX: '2', ...process.env })
}

/** Runs the same command with the Node.js that Depot includes, and exits with its exit code or signal. */
async function handOver() {
  const { spawn } = await import('node:child_process')
  const own = await findOwnNode()
  if (own === undefined) {
    console.error(
      `Depot needs Node.js 24.12 or newer; this is ${process.versions.node}. npm did not install the Node.js that Depot includes, because it left out optional packages, or because there is none for ${process.platform} on ${process.arch}. Install without --omit=optional, or install Node.js 24.12 or newer.`,
    )
    process.exit(1)
  }
  const child = spawn(own, [...process.execArgv, '--', ...process.argv.slice(1)], { stdio: 'inherit' })
  // A terminal sends Ctrl-C to both processes; a service manager signals only this process.
  for (const signal of ['SIGTERM', 'SIGHUP', 'SIGUSR2']) process.on(signal, () => child.kill(signal))
  process.on('SIGINT', () => process.stdin.isTTY || child.kill('SIGINT'))
  child.on('error', (error) => {
    console.error(`Depot cannot run the Node.js that it includes: ${error.message}`)
    process.exit(1)
  })
  child.on('exit', (code, signal) => {
    for (const handled of ['SIGTERM', 'SIGHUP', 'SIGUSR2', 'SIGINT']) process.removeAllListeners(handled)
    if (signal === null) process.exit(code ?? 1)
    process.kill(process.pid, signal)
  })
}

/** Returns the program of the optional package for this platform, or undefined. */
async function findOwnNode() {
  const { createRequire } = await import('node:module')
  const { resolve } = createRequire(import.meta.url)
  for (const name of ['node', 'node-bin']) {
    try {
      return resolve(`${name}-${process.platform}-${process.arch}/bin/node`)
    } catch {
      // The package for this platform has the other name, or is not installed.
    }
  }
}
