// Runs tests. `npm test` runs the first tier: everything that runs in process. CONTRIBUTING.md describes the use.
//   npm test -- follows                      files whose path contains `follows`
//   npm test -- follows --test-name-pattern=undo
//   npm run test:system                      the second tier: servers, commands, proxies, a browser
import fs from 'node:fs'
import { availableParallelism } from 'node:os'
import { run } from 'node:test'

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < 24 || (major === 24 && minor < 12)) {
  console.error(
    `The tests need Node.js 24.12 or later; this is ${process.versions.node}. Run \`npm ci\`, and start them with \`npm test\`.`,
  )
  process.exit(1)
}

/** Applications create many objects that live briefly. A larger space for them halves the number of garbage collections. */
const MEMORY = ['--max-semi-space-size=32']
/** Time limit of a file, for tests that hang. */
const TIME_LIMIT_MS = 30 * 60_000

/** File patterns of each tier, the number of concurrent files, and the files to start with. */
const TIERS = {
  process: {
    files: ['{src,demo}/**/*.test.ts', 'test/{rules,api,client}/**/*.test.ts'],
    not: /\.(system|engine)\.test\.ts$/,
    // Each process also waits for the database.
    concurrency: availableParallelism() + 1,
  },
  system: {
    files: ['{src,demo}/**/*.system.test.ts', 'test/system/**/*.test.ts'],
    // These tests also wait for the processes that they start.
    concurrency: availableParallelism() + 1,
    // The last minutes of a run must not belong to one file.
    first: /\/(looks|upgrades|backups)\/|\/walk\./,
  },
  engines: {
    files: ['src/**/*.engine.test.ts', 'test/engines/*.test.ts', 'src/ports/analytics-store/agreement.test.ts'],
    concurrency: 1,
    env: { TEST_ENGINES: 'yes' },
  },
  cluster: { files: ['test/cluster/*.test.ts'] },
  clients: { files: ['test/clients/*.test.ts'] },
  /** The files that `npm run release` makes, each on a system without the checkout. */
  release: { files: ['test/release/*.test.ts'] },
}

/** samples.test.ts contains no tests, but requests for the tests of all operations. */
const filesOf = ({ files, not }) =>
  fs.globSync(files).filter((file) => !not?.test(file) && !file.endsWith('/samples.test.ts'))

const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium'
const canRun = (file) => !file.startsWith('test/system/browser/') || fs.existsSync(CHROMIUM)

/**
 * Returns the files of a tier whose paths contain one of the words. A word that matches none of them selects from all
 * tiers, so that the path of any test file works. A word that matches no file at all ends the run, because the other
 * words would hide that its tests did not run.
 */
function chooseFiles(tier, words) {
  if (words.length === 0) return filesOf(tier).filter(canRun)
  const everything = Object.values(TIERS).flatMap(filesOf)
  const chosen = words.flatMap((word) => {
    const matches = (file) => file.includes(word.replace(/^\.\//, ''))
    const files = filesOf(tier).filter(matches)
    const found = files.length > 0 ? files : everything.filter(matches)
    if (found.length === 0) {
      console.error(`No test file has a path that contains ${word}`)
      process.exit(1)
    }
    return found
  })
  return [...new Set(chosen)]
}

async function main() {
  const args = process.argv.slice(2)
  const words = args.filter((arg) => !arg.startsWith('--'))
  const name = args.find((arg) => arg.startsWith('--tier='))?.slice('--tier='.length) ?? 'process'
  const nodeOptions = args.filter((arg) => arg.startsWith('--') && !arg.startsWith('--tier='))
  const tier = TIERS[name]
  const files = chooseFiles(tier, words)
  if (words.length === 0 && !filesOf(tier).every(canRun)) console.log(`No browser tests: ${CHROMIUM} does not exist`)
  const { openCache } = await import('./test/cache.mjs')
  const { startDatabase } = await import('./test/database.mjs')
  const { report } = await import('./test/report.mjs')
  const { shareProcesses } = await import('./test/share-processes.mjs')

  const cache = openCache()
  const abort = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => abort.abort())
  const database = await startDatabase(cache)
  try {
    const isLong = (file) => tier.first?.test(file) === true
    const sorted = cache.longestFirst(files).sort((a, b) => Number(isLong(b)) - Number(isLong(a)))
    const parallel = tier.concurrency ?? availableParallelism()
    // Options such as --test-name-pattern select tests of a file, which only the file's own process can do.
    const together = nodeOptions.length > 0 ? [] : sorted.filter((file) => filesOf(TIERS.process).includes(file))
    const shared = shareProcesses(together, parallel)
    const env = { ...process.env, NODE_COMPILE_CACHE: cache.compiled, ...tier.env, ...shared.env }
    const events = run({
      files: [...shared.programs, ...sorted.filter((file) => !together.includes(file))],
      concurrency: parallel,
      timeout: TIME_LIMIT_MS,
      execArgv: [...MEMORY, '--import', new URL('test/end-children.mjs', import.meta.url).href, ...nodeOptions],
      env,
      signal: abort.signal,
    })
    const { isSuccess, durations } = await report(events)
    cache.saveDurations(durations)
    process.exitCode = abort.signal.aborted ? 130 : isSuccess ? 0 : 1
    shared.remove()
  } finally {
    await database.stop()
  }
}

await main()
