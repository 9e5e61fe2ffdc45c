// Stores the figures of a process every minute. All processes of an instance add to the same rows.
import { setTimeout as startTimer } from 'node:timers'
import { MINUTE_MS } from '#lib/time.ts'
import type { Deps } from '#ports/deps.ts'
import { addFigures, type MinuteFigures } from './queries.ts'

/** Maximum number of minutes that wait in memory while the database is unavailable. */
const WAITING_MAX = 60
/** Maximum delay after the full minute, so that the processes do not write at the same moment. */
const SPREAD_MS = 5_000

export type FigureRecorder = {
  /** Stores what was counted since the last call. Never rejects; what cannot be stored is stored by the next call. */
  store(): Promise<void>
  /** Stores the rest. */
  stop(): Promise<void>
}

/** Starts to store the figures of this process. */
export function startRecording(deps: Pick<Deps, 'db' | 'metrics' | 'log' | 'now'>): FigureRecorder {
  const recorder = createRecorder(deps)
  let timer: NodeJS.Timeout | undefined
  let storing = Promise.resolve()
  const storeLater = (): void => {
    const toMinuteMs = MINUTE_MS - (deps.now() % MINUTE_MS)
    timer = startTimer(
      () => {
        storing = recorder.store().finally(storeLater)
      },
      toMinuteMs + Math.random() * SPREAD_MS,
    ).unref()
  }
  storeLater()
  return {
    store: recorder.store,
    stop: async () => {
      clearTimeout(timer)
      await storing
      clearTimeout(timer)
      await recorder.store()
    },
  }
}

/** A recorder without a timer. */
export function createRecorder({
  db,
  metrics,
  log,
  now,
}: Pick<Deps, 'db' | 'metrics' | 'log' | 'now'>): Pick<FigureRecorder, 'store'> {
  const waiting: MinuteFigures[] = []
  let since = now()
  return {
    async store() {
      const minute = new Date(Math.floor(since / MINUTE_MS) * MINUTE_MS)
      waiting.push({ minute, ...metrics.figures.take() })
      since = now()
      if (waiting.length > WAITING_MAX) waiting.shift()
      try {
        await addFigures(db, waiting)
        waiting.length = 0
      } catch (err) {
        log.warn({ err }, 'Could not store the figures of the last minute; Depot will try again')
      }
    },
  }
}
