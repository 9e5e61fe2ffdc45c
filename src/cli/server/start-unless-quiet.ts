// Starts the background work of a server; in a quiet copy of an instance, when an operator resumes it.
import { setTimeout as sleep } from 'node:timers/promises'
import { QUIET, quietSince } from '#features/basics/settings/quiet.ts'
import type { Deps } from '#ports/deps.ts'

export type Background = { stop(): Promise<void> }

/** Longest time until the work starts after `depot resume`. */
const POLL_MS = 1_000

export async function startUnlessQuiet(
  { db, log }: Pick<Deps, 'db' | 'log'>,
  start: () => Promise<Background>,
  pollMs = POLL_MS,
): Promise<Background> {
  if ((await quietSince(db)) === null) return start()
  log.warn(QUIET)
  const stopping = new AbortController()
  const { signal } = stopping
  const isQuiet = async (): Promise<boolean> => (await quietSince(db).catch(() => undefined)) !== null
  const wait = async (): Promise<Background | undefined> => {
    while (await isQuiet()) {
      await sleep(pollMs, undefined, { signal }).catch(() => undefined)
      if (signal.aborted) return undefined
    }
    log.info('An operator resumed this copy of the instance; Depot runs its jobs')
    return start()
  }
  const waiting = startRepeatedly(wait, { log, signal, pollMs })
  return {
    stop: async () => {
      stopping.abort()
      await (await waiting)?.stop()
    },
  }
}

/** Starts again if the database became unavailable in the meantime. */
async function startRepeatedly(
  wait: () => Promise<Background | undefined>,
  { log, signal, pollMs }: Pick<Deps, 'log'> & { signal: AbortSignal; pollMs: number },
): Promise<Background | undefined> {
  while (!signal.aborted) {
    try {
      return await wait()
    } catch (err) {
      log.warn({ err }, 'Could not start the worker; Depot will try again')
      await sleep(pollMs, undefined, { signal }).catch(() => undefined)
    }
  }
  return undefined
}
