#!/usr/bin/env node
// Entry of every command. Plain JavaScript, so that an older Node can hand over to the one that Depot brings.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < 24 || (major === 24 && minor < 12)) await handOver()
else await start()

async function start() {
  // Variables of the environment win over those of the file.
  try {
    process.loadEnvFile('.env')
  } catch (error) {
    if (error.code !== 'ENOENT') {
      console.error(`The file .env in ${process.cwd()} cannot be read: ${error.message}`)
      process.exit(1)
    }
  }
  // Files, archives, pictures and passwords share these threads. Read once, when the first of them is started: set here,
  // it holds for every way to start.
  process.env.UV_THREADPOOL_SIZE ??= '16'
  const { enableCompileCache } = await import('node:module')
  enableCompileCache()
  const { main } = await import('#cli/main.ts')
  await main(process.argv.slice(2), process.env)
}

/** Runs the same command by the Node of the npm package `node`, and ends as that ends. */
async function handOver() {
  const { spawn } = await import('node:child_process')
  const { existsSync } = await import('node:fs')
  const { fileURLToPath } = await import('node:url')
  const own = fileURLToPath(new URL('../node_modules/node/bin/node', import.meta.url))
  if (!existsSync(own)) {
    console.error(
      `Depot needs Node 24.12 or newer and this is ${process.versions.node}, because install scripts were switched off when its own Node was to be installed: run \`npm rebuild node --ignore-scripts=false\` and try again.`,
    )
    process.exit(1)
  }
  const child = spawn(own, [...process.execArgv, ...process.argv.slice(1)], { stdio: 'inherit' })
  // A terminal sends Ctrl-C to both; a service manager signals this process alone.
  for (const signal of ['SIGTERM', 'SIGHUP', 'SIGUSR2']) process.on(signal, () => child.kill(signal))
  process.on('SIGINT', () => process.stdin.isTTY || child.kill('SIGINT'))
  child.on('error', (error) => {
    console.error(`Depot's own Node cannot be run: ${error.message}`)
    process.exit(1)
  })
  child.on('exit', (code, signal) => {
    for (const handled of ['SIGTERM', 'SIGHUP', 'SIGUSR2', 'SIGINT']) process.removeAllListeners(handled)
    if (signal === null) process.exit(code ?? 1)
    process.kill(process.pid, signal)
  })
}
