#!/usr/bin/env node
// Entry of every command. Plain JavaScript, so that a Node too old for Depot can still say so.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < 24 || (major === 24 && minor < 12)) {
  console.error(
    `Depot needs Node 24.12 or newer and this is ${process.versions.node}, because install scripts were switched off when its own Node was to be installed: run \`npm rebuild node --ignore-scripts=false\` and try again.`,
  )
  process.exit(1)
}
// Variables of the environment win over those of the file.
try {
  process.loadEnvFile('.env')
} catch (error) {
  if (error.code !== 'ENOENT') {
    console.error(`The file .env in ${process.cwd()} cannot be read: ${error.message}`)
    process.exit(1)
  }
}
// Files, archives, pictures and passwords share these threads. Read once, when the first of them is started: set here, it
// holds for every way to start.
process.env.UV_THREADPOOL_SIZE ??= '16'
const { enableCompileCache } = await import('node:module')
enableCompileCache()
const { main } = await import('#main/main.ts')
await main(process.argv.slice(2), process.env)
