// How guessable a password is, asked of a worker thread: the dictionaries take half a second to load and a hostile
// password a tenth of a second to judge, and neither may hold up the requests of others.

import { createWorkerThread } from '#lib/concurrency/worker-thread.ts'
import { MINUTE_MS } from '#lib/time.ts'
import type { StrengthQuestion } from './strength-worker.ts'

/** Only this much is judged: what follows cannot make the beginning easier to guess, and time grows with length. */
const JUDGED_LENGTH_MAX = 40
const WAITING_MAX = 100
const WAITING_PER_CALLER_MAX = 10
const ANSWER_MS = 15_000
/** The thread and its dictionaries (some 60 MB) go when nobody needs them. */
const IDLE_MS = MINUTE_MS

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

export function createStrengthMeter({
  worker = new URL('./strength-worker.ts', import.meta.url),
  answerMs = ANSWER_MS,
}: StrengthMeterOptions = {}): StrengthMeter {
  const thread = createWorkerThread<StrengthQuestion, number>({
    url: worker,
    name: 'The password strength thread',
    waiting: WAITING_MAX,
    waitingPerCaller: WAITING_PER_CALLER_MAX,
    answerMs,
    idleMs: IDLE_MS,
  })
  return {
    score: (password, knownWords, caller) =>
      thread.ask({ password: password.slice(0, JUDGED_LENGTH_MAX), knownWords }, caller),
    close: () => thread.close(),
  }
}
