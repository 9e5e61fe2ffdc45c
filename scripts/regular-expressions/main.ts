// `node scripts/regular-expressions/main.ts`: rejects regular expressions of the product whose time grows faster than their
// input. The results are cached by expression, so that a run checks only new ones.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { dirname, join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { EXCEPTIONS, type Exception } from './exceptions.ts'
import { type Found, findExpressions } from './find.ts'

const CACHE = join(import.meta.dirname, '../../node_modules/.cache/depot-regular-expressions.json')
const WORKERS_MAX = 4
/** Another checker can return another result. */
const CHECKER = ['check-expression.ts', '../../node_modules/recheck/package.json']
  .map((file) => readFileSync(join(import.meta.dirname, file), 'utf8'))
  .join()

type Task = { readonly source: string; readonly flags: string }
/** The problem of each expression, null for a safe one. */
type Results = Record<string, string | null>

const keyOf = ({ source, flags }: Task): string => `/${source}/${flags}`

const problems: string[] = []
const unused = new Set<Exception>(EXCEPTIONS)
const tasks = new Map<string, { task: Task; where: string[] }>()
for (const found of findExpressions()) {
  const task = taskOf(found)
  if (task === undefined) continue
  const known = tasks.get(keyOf(task))
  if (known === undefined) tasks.set(keyOf(task), { task, where: [found.where] })
  else known.where.push(found.where)
}
const known = readCache()
const results: Results = Object.fromEntries(Object.entries(known).filter(([key]) => tasks.has(key)))
await checkAll([...tasks].filter(([key]) => !(key in results)).map(([, { task }]) => task))
mkdirSync(dirname(CACHE), { recursive: true })
writeFileSync(CACHE, JSON.stringify({ checker: CHECKER, results }))
for (const [key, { where }] of tasks) {
  if (results[key] !== null) problems.push(`${where.join(', ')}: ${key} ${results[key]}`)
}
for (const { file, code } of unused) problems.push(`${file}: the exception for ${code} has no expression; remove it`)
for (const problem of problems) console.error(problem)
if (problems.length > 0) process.exit(1)
console.log(`Checked ${tasks.size} regular expressions.`)

/** Returns the expression to check; undefined if its exception names a bound. */
function taskOf({ where, code, source, flags }: Found): Task | undefined {
  const exception = EXCEPTIONS.find((each) => where.startsWith(`${each.file}:`) && each.code === code)
  if (exception === undefined) {
    if (source !== undefined) return { source, flags }
    problems.push(`${where}: ${code} depends on values of the running program; add an exception`)
    return undefined
  }
  unused.delete(exception)
  return exception.form
}

async function checkAll(queue: Task[]): Promise<void> {
  const count = Math.min(WORKERS_MAX, availableParallelism(), queue.length)
  await Promise.all(Array.from({ length: count }, () => checkUntilEmpty(queue)))
}

function checkUntilEmpty(queue: Task[]): Promise<void> {
  const worker = new Worker(new URL('./check-worker.ts', import.meta.url))
  return new Promise((resolve, reject) => {
    let task: Task | undefined
    const next = (): void => {
      task = queue.pop()
      if (task === undefined) void worker.terminate().then(() => resolve())
      else worker.postMessage(task)
    }
    worker.on('error', reject)
    worker.on('message', (problem: string | null) => {
      if (task !== undefined) results[keyOf(task)] = problem
      next()
    })
    next()
  })
}

function readCache(): Results {
  try {
    const cache = JSON.parse(readFileSync(CACHE, 'utf8')) as { checker: string; results: Results }
    return cache.checker === CHECKER ? cache.results : {}
  } catch {
    return {}
  }
}
