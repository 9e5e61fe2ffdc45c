// How guessable a password is, asked of a worker thread: the dictionaries take half a second to load and a spiteful
// password a tenth of a second to judge, and neither may hold up the requests of others.
import { setTimeout as startTimer } from 'node:timers'
import { Worker } from 'node:worker_threads'

/** Only this much is judged: what follows cannot make the beginning easier to guess, and time grows with length. */
const JUDGED_LENGTH_MAX = 40
const PENDING_MAX = 100
const ANSWER_MS = 15_000
/** The thread and its dictionaries (some 60 MB) go when nobody needs them. */
const IDLE_MS = 60_000

type Answer = { id: number; score: number }
type Waiting = { resolve: (score: number) => void; reject: (error: Error) => void; timer: NodeJS.Timeout }

export type StrengthMeter = {
  /** zxcvbn's score, 0 (guessed at once) to 4; `knownWords` count as the first an attacker tries. */
  score(password: string, knownWords: readonly string[]): Promise<number>
  close(): Promise<void>
}

/** The thread starts with the first question; one that dies or hangs fails what it was asked and is replaced. */
export function createStrengthMeter({ refuse }: { refuse: () => Error }): StrengthMeter {
  const waiting = new Map<number, Waiting>()
  let worker: Worker | undefined
  let idle: NodeJS.Timeout | undefined
  let lastId = 0

  function start(): Worker {
    const started = new Worker(new URL('./strength-worker.ts', import.meta.url))
    const lost = (error: Error) => {
      if (worker === started) fail(error)
    }
    started.on('message', settle)
    started.on('error', lost)
    started.on('exit', () => lost(new Error('The password strength thread has ended')))
    return started
  }

  function settle({ id, score }: Answer): void {
    const asked = waiting.get(id)
    if (asked === undefined) return
    waiting.delete(id)
    clearTimeout(asked.timer)
    asked.resolve(score)
    if (waiting.size > 0) return
    // A process that has nothing else to do may end.
    worker?.unref()
    idle = startTimer(() => void stop(), IDLE_MS).unref()
  }

  function fail(error: Error): void {
    const asked = [...waiting.values()]
    waiting.clear()
    for (const { reject, timer } of asked) {
      clearTimeout(timer)
      reject(error)
    }
    void stop()
  }

  async function stop(): Promise<void> {
    clearTimeout(idle)
    const ending = worker
    worker = undefined
    await ending?.terminate()
  }

  return {
    score(password, knownWords) {
      if (waiting.size >= PENDING_MAX) return Promise.reject(refuse())
      clearTimeout(idle)
      worker ??= start()
      worker.ref()
      const id = ++lastId
      const { promise, resolve, reject } = Promise.withResolvers<number>()
      const timer = startTimer(() => fail(new Error('The password strength thread does not answer')), ANSWER_MS)
      waiting.set(id, { resolve, reject, timer })
      worker.postMessage({ id, password: password.slice(0, JUDGED_LENGTH_MAX), knownWords })
      return promise
    },
    close: async () => fail(new Error('The service is closing')),
  }
}
