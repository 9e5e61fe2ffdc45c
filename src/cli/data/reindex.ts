// `depot reindex`: rebuilds the search index, whether or not a server is running.
import { setTimeout as sleep } from 'node:timers/promises'
import { readArguments } from '#cli/kit/arguments.ts'
import { withProgress } from '#cli/kit/progress.ts'
import { type Env, print, withDeps } from '#cli/kit/with-deps.ts'
import { COMMAND } from '#features/basics/audit/actor.ts'
import { getStatistics } from '#features/basics/statistics/queries.ts'
import { requestRebuild } from '#features/reading/search/request-rebuild.ts'
import { MINUTE_MS } from '#lib/time.ts'
import { openIdleSearch } from '#main/open-search.ts'
import type { Deps } from '#ports/deps.ts'
import { findFinishedRebuild } from '#ports/search-index/feed/changes.ts'
import type { SearchFeed } from '#ports/search-index/feed/search-feed.ts'

const POLL_MS = 200
/** Time limit for a server. If it takes longer, the log of the server states the problem. */
const PATIENCE_MS = 30 * MINUTE_MS

/**
 * Asks every server of this database to rebuild its index, and waits until one has finished. If no server uses this data
 * folder, the command builds the index for the next start.
 */
export async function reindexCommand(args: readonly string[], env: Env): Promise<void> {
  const { values } = readArguments(args, { json: 'boolean' })
  const result = await withDeps(env, async (deps) => {
    const startedAt = performance.now()
    const requested = await requestRebuild(deps, COMMAND)
    const documents = await buildHere(deps)
    if (documents === undefined) {
      const format = (seconds: number) => `${seconds} s`
      await withProgress({ label: 'Waiting for the server', format }, (update) =>
        waitForServer(deps, requested, () => update(Math.round((performance.now() - startedAt) / 1000))),
      )
    }
    const seconds = Math.round((performance.now() - startedAt) / 100) / 10
    return { documents, seconds, by: documents === undefined ? 'server' : 'command' }
  })
  const text =
    result.documents === undefined
      ? `The server rebuilt its search index (${result.seconds} s)`
      : `Built the search index: ${result.documents} projects (${result.seconds} s)`
  print({ json: result, text }, values.json)
}

/** Returns the number of projects in the index; undefined if a server uses the folder. */
async function buildHere(deps: Deps): Promise<number | undefined> {
  const search = await openIdleSearch(deps)
  if (search === undefined) return undefined
  try {
    await withProgress({ label: 'Projects in the index' }, async (update) => {
      const total = (await getStatistics(deps.db)).projects
      // The last state might arrive after the build has finished.
      const polling = new AbortController()
      const watching = watch(search, (documents) => update(documents, Math.max(documents, total)), polling.signal)
      await search.caughtUp().finally(() => polling.abort())
      await watching
    })
    return (await search.state()).documents
  } finally {
    await search.close()
  }
}

/** Reports the number of projects in the index until the signal aborts. */
async function watch(search: SearchFeed, onDocuments: (documents: number) => void, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const { documents } = await search.state()
    onDocuments(documents)
    await sleep(POLL_MS, undefined, { signal }).catch(() => undefined)
  }
}

async function waitForServer({ db }: Deps, requested: number, onWait: () => void): Promise<void> {
  const until = performance.now() + PATIENCE_MS
  while ((await findFinishedRebuild(db)) < requested) {
    if (performance.now() > until)
      throw new Error('No server has rebuilt its search index within 30 minutes. Check the log of the server.')
    onWait()
    await sleep(POLL_MS)
  }
}
