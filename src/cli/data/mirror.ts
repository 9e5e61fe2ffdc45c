// `depot mirror`: copies projects of another instance.
import { setTimeout as sleep } from 'node:timers/promises'
import { readArguments, required, UsageError, wholeNumber } from '#cli/kit/arguments.ts'
import { type Env, print, withDeps } from '#cli/kit/with-deps.ts'
import type { MirrorReport } from '#features/exchange/mirror/copy/context.ts'
import { type MirrorOptions, runMirror } from '#features/exchange/mirror/run-mirror.ts'
import type { Selection } from '#features/exchange/mirror/selection.ts'
import { withoutEnd } from '#lib/text/linear-text.ts'
import { VERSION } from '#platform/config/version.ts'
import type { Deps } from '#ports/deps.ts'

const FOLLOW_EVERY_MS = 30_000
const RETRY_EVERY_MS = 3_600_000
const PROJECTS_MAX = 10_000

const OPTIONS = {
  projects: 'string',
  organization: 'string',
  search: 'string',
  all: 'boolean',
  owner: 'string',
  since: 'string',
  follow: 'boolean',
  'no-files': 'boolean',
  'max-bytes': 'string',
  'dry-run': 'boolean',
  'accept-new-key': 'boolean',
  json: 'boolean',
} as const

export async function mirrorCommand(args: readonly string[], env: Env): Promise<void> {
  const { values, words } = readArguments(args, OPTIONS, { min: 1, max: 1 })
  const [address = ''] = words
  const maxBytes = values['max-bytes']
  const stop = new AbortController()
  const options: MirrorOptions = {
    address: checkedAddress(address),
    selection: selectionOf(values),
    owner: required(values.owner, 'owner'),
    since: values.since,
    withFiles: values['no-files'] !== true,
    retries: true,
    maxBytes: maxBytes === undefined ? undefined : wholeNumber(maxBytes, 'max-bytes', 0, Number.MAX_SAFE_INTEGER),
    isDryRun: values['dry-run'] === true,
    acceptsNewKey: values['accept-new-key'] === true,
    userAgent: `Depot/${VERSION} (mirror)`,
    warn: (message) => void process.stderr.write(`${message}\n`),
    signal: stop.signal,
  }
  if (values.follow === true && options.isDryRun) throw new UsageError('--follow cannot be combined with --dry-run')
  const end = (): void => stop.abort()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, end)
  try {
    await withDeps(env, async (deps) => {
      const report = await (values.follow === true ? follow(deps, options) : runMirror(deps, options))
      print({ json: report, text: describe(report, options) }, values.json)
    })
  } catch (error) {
    if (!stop.signal.aborted) throw error
    process.stderr.write('Stopped. The next run continues where this one ended.\n')
    process.exitCode = 130
  } finally {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.removeListener(signal, end)
  }
}

/** Runs again and again until the command is stopped. Returns the sums of all runs. */
async function follow(deps: Deps, options: MirrorOptions): Promise<MirrorReport> {
  const { signal } = options
  let sum: MirrorReport | undefined
  let retried = 0
  let next = options
  while (signal?.aborted !== true) {
    const retries = deps.now() - retried >= RETRY_EVERY_MS
    if (retries) retried = deps.now()
    sum = added(sum, await runMirror(deps, { ...next, retries }))
    next = { ...options, since: undefined, acceptsNewKey: false }
    await sleep(FOLLOW_EVERY_MS, undefined, { signal }).catch(() => undefined)
  }
  return sum ?? Promise.reject(new Error('The command was stopped before its first run'))
}

function added(sum: MirrorReport | undefined, { cursor, ...counts }: MirrorReport): MirrorReport {
  const total = { ...counts, cursor }
  if (sum === undefined) return total
  for (const name of Object.keys(counts) as (keyof typeof counts)[]) total[name] += sum[name]
  return total
}

/** Returns the address without a slash at the end. @throws UsageError */
export function checkedAddress(text: string): string {
  const url = URL.parse(text)
  if (url === null || !['http:', 'https:'].includes(url.protocol))
    throw new UsageError(`${text} is not the address of an instance, such as https://depot.example`)
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    throw new UsageError('The address must have no user name, no password, no query and no fragment')
  return `${url.origin}${withoutEnd(url.pathname, '/')}`
}

/** @throws UsageError unless exactly one option selects projects. */
function selectionOf(values: { projects?: string; organization?: string; search?: string; all?: boolean }): Selection {
  const chosen: Selection[] = []
  if (values.projects !== undefined) chosen.push({ kind: 'projects', names: namesOf(values.projects) })
  if (values.organization !== undefined)
    chosen.push({ kind: 'organization', name: required(values.organization, 'organization') })
  if (values.search !== undefined) chosen.push({ kind: 'search', query: checkedQuery(values.search) })
  if (values.all === true) chosen.push({ kind: 'all' })
  const [selection] = chosen
  if (selection === undefined || chosen.length > 1) {
    throw new UsageError(
      `Choose what to copy with one of these options${chosen.length > 1 ? ', not several' : ''}: --projects, --organization, --search or --all`,
    )
  }
  return selection
}

/** Parameters of a search that the mirror sets, because it reads all hits, those with the latest changes first. */
const SET_BY_MIRROR = ['limit', 'offset', 'index', 'sort'] as const

/** @throws UsageError for a parameter that would have no effect. */
function checkedQuery(text: string): string {
  const name = SET_BY_MIRROR.find((each) => new URLSearchParams(text).has(each))
  if (name === undefined) return text
  throw new UsageError(
    `--search cannot contain ${name}: the mirror copies every project that the search finds. To copy some of them, use --projects`,
  )
}

function namesOf(text: string): string[] {
  const names = [...new Set(text.split(',').map((name) => name.trim()))].filter((name) => name !== '')
  if (names.length === 0) throw new UsageError('--projects must name a project')
  if (names.length > PROJECTS_MAX) throw new UsageError(`--projects can name at most ${PROJECTS_MAX} projects`)
  return names
}

function describe(
  { projects, versions, files, skipped, mismatches, failed, requests }: MirrorReport,
  { isDryRun }: MirrorOptions,
): string {
  const did = isDryRun ? 'Would copy' : 'Copied'
  const left = skipped === 0 ? '' : `; ${skipped} skipped (${mismatches} with another content, ${failed} not available)`
  return `${did} ${projects} projects, ${versions} versions and ${files} files${left}. The source answered ${requests} requests.`
}
