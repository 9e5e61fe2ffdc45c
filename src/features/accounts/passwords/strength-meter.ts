// How guessable a password is, asked of a worker thread: the dictionaries take half a second to load and a hostile
// password a tenth of a second to judge, and neither may hold up the requests of others.
import { setTimeout as startTimer } from 'node:timers'
import { Worker } from 'node:worker_threads'
import { createLimiter, overloaded } from '#lib/limiter.ts'

/** Only this much is judged: what follows cannot make the beginning easier to guess, and time grows with length. */
const JUDGED_LENGTH_MAX = 40
const WAITING_MAX = 100
const WAITING_PER_CALLER_MAX = 10
const LOAD_MS = 120_000
const ANSWER_MS = 15_000
/** The thread and its dictionaries (some 60 MB) go when nobody needs them. */
const IDLE_MS = 60_000

export type StrengthMeter = {
  /**
   * zxcvbn's score, 0 (guessed at once) to 4; `knownWords` count as the first an attacker tries.
   * @param caller who asks, such as a client address; callers take turns.
   * @throws ApiError 503 when too much waits, or when this password alone takes too long.
   */
  score(password: string, knownWords: readonly string[], caller?: string): Promise<number>
  close(): Promise<void>
}

/** `worker` is the file of the thread. */
export type StrengthMeterOptions = { worker?: URL; answerMs?: number }

type Thread = { worker: Worker; loaded: Promise<void> }

/** The thread starts with the first question and answers one at a time; one that dies or hangs is replaced. */
export function createStrengthMeter({
  worker: file = new URL('./strength-worker.ts', import.meta.url),
  answerMs = ANSWER_MS,
}: StrengthMeterOptions = {}): StrengthMeter {
  const limiter = createLimiter({ running: 1, waiting: WAITING_MAX, waitingPerCaller: WAITING_PER_CALLER_MAX })
  let thread: Thread | undefined
  let idle: NodeJS.Timeout | undefined
  let closed = false

  function start(): Thread {
    const worker = new Worker(file)
    // An exit between two questions: the next one starts another thread.
    worker.on('error', () => forget(worker))
    worker.on('exit', () => forget(worker))
    const loaded = answerOf(worker, LOAD_MS).then(() => {})
    return { worker, loaded }
  }

  function forget(worker: Worker): void {
    if (thread?.worker === worker) thread = undefined
  }

  async function stop(): Promise<void> {
    clearTimeout(idle)
    const ending = thread?.worker
    thread = undefined
    await ending?.terminate()
  }

  async function ask(question: { password: string; knownWords: readonly string[] }): Promise<number> {
    if (closed) throw overloaded('The service is closing')
    clearTimeout(idle)
    thread ??= start()
    const { worker, loaded } = thread
    worker.ref()
    try {
      await loaded
      // Time counts from here: what waited before has nothing to do with this password.
      const answer = answerOf(worker, answerMs)
      worker.postMessage(question)
      return await answer
    } catch (cause) {
      if (thread?.worker === worker) await stop()
      throw Object.assign(overloaded('The password could not be judged'), { cause })
    } finally {
      // A process that has nothing else to do may end.
      worker.unref()
      idle = startTimer(() => void stop(), IDLE_MS).unref()
    }
  }

  return {
    score: (password, knownWords, caller) =>
      limiter.run(() => ask({ password: password.slice(0, JUDGED_LENGTH_MAX), knownWords }), caller),
    close: async () => {
      closed = true
      await stop()
    },
  }
}

/** The thread's next message; rejects when it ends, fails or is silent for `ms`. */
function answerOf(worker: Worker, ms: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const settle = (act: () => void) => {
      clearTimeout(timer)
      worker.off('message', onMessage).off('error', onError).off('exit', onExit)
      act()
    }
    const onMessage = (score: number) => settle(() => resolve(score))
    const onError = (error: Error) => settle(() => reject(error))
    const onExit = () => settle(() => reject(new Error('The password strength thread has ended')))
    const onSilence = () => settle(() => reject(new Error(`The password strength thread was silent for ${ms} ms`)))
    const timer = startTimer(onSilence, ms)
    worker.on('message', onMessage).on('error', onError).on('exit', onExit)
  })
}
