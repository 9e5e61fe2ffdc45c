// Rates passwords in a worker thread, because loading the dictionaries takes 0.5 s and rating a hostile password 0.1 s.

import { createWorkerThread } from '#lib/concurrency/worker-thread.ts'
import { MINUTE_MS } from '#lib/time.ts'
import type { StrengthAnswer, StrengthQuestion } from './strength-worker.ts'

/** Number of rated characters. The rest cannot make a password easier to guess, and the time grows with the length. */
const RATED_LENGTH_MAX = 40
const WAITING_MAX = 100
const WAITING_PER_CALLER_MAX = 10
const ANSWER_MS = 15_000
/** Time after which the unused thread ends and frees its dictionaries (about 60 MB). */
const IDLE_MS = MINUTE_MS

export type StrengthMeter = {
  /**
   * Rates a password. `knownWords` are words that an attacker tries first.
   * @param caller the client's IP address; callers take turns.
   * @throws ApiError 503 if the queue is full or the password takes too long.
   */
  rate(password: string, knownWords: readonly string[], caller?: string): Promise<StrengthAnswer>
  close(): Promise<void>
}

/** Options for tests; `worker` is the file of the thread. */
export type StrengthMeterOptions = { worker?: URL; answerMs?: number }

export function createStrengthMeter({
  worker = new URL('./strength-worker.ts', import.meta.url),
  answerMs = ANSWER_MS,
}: StrengthMeterOptions = {}): StrengthMeter {
  const thread = createWorkerThread<StrengthQuestion, StrengthAnswer>({
    url: worker,
    name: 'The password strength thread',
    waiting: WAITING_MAX,
    waitingPerCaller: WAITING_PER_CALLER_MAX,
    answerMs,
    idleMs: IDLE_MS,
  })
  return {
    rate: (password, knownWords, caller) =>
      thread.ask({ password: password.slice(0, RATED_LENGTH_MAX), knownWords }, caller),
    close: () => thread.close(),
  }
}
