// How guessable a password is, asked of a worker thread: the dictionaries take half a second to load and a spiteful
// password a tenth of a second to judge, and neither may hold up the requests of others.
import { createWorkerThread } from '#lib/worker-thread.ts'
import type { StrengthQuestion } from './strength-worker.ts'

/** Only this much is judged: what follows cannot make the beginning easier to guess, and time grows with length. */
const JUDGED_LENGTH_MAX = 40
const PENDING_MAX = 100
const ANSWER_MS = 15_000
/** The thread and its dictionaries (some 60 MB) go when nobody needs them. */
const IDLE_MS = 60_000

export type StrengthMeter = {
  /** zxcvbn's score, 0 (guessed at once) to 4; `knownWords` count as the first an attacker tries. */
  score(password: string, knownWords: readonly string[]): Promise<number>
  close(): Promise<void>
}

/** The thread starts with the first question; one that dies or hangs fails what it was asked and is replaced. */
export function createStrengthMeter({ refuse }: { refuse: () => Error }): StrengthMeter {
  const thread = createWorkerThread<StrengthQuestion, number>({
    url: new URL('./strength-worker.ts', import.meta.url),
    name: 'The password strength thread',
    pendingMax: PENDING_MAX,
    answerMs: ANSWER_MS,
    idleMs: IDLE_MS,
    refuse,
  })
  return {
    score: (password, knownWords) => thread.ask({ password: password.slice(0, JUDGED_LENGTH_MAX), knownWords }),
    close: () => thread.close(),
  }
}
