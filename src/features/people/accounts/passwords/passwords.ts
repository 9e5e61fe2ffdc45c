// Passwords: how they are hashed, verified and judged. The work is off the main thread and bounded, so that a flood of
// sign-ins costs time but neither memory nor other requests.

import { createLimiter, overloaded } from '#lib/concurrency/limiter.ts'
import { validationError } from '#lib/errors.ts'
import { checkText } from '#lib/text/text-rules.ts'
import { createStrengthMeter } from './strength-meter.ts'

export const PASSWORD_LENGTH_MIN = 8
export const PASSWORD_LENGTH_MAX = 256

/** zxcvbn's scale is 0 to 4; from 3 on a password withstands about 10^8 guesses. */
const SCORE_MIN = 3

/**
 * argon2id (the library's default kind) with 32 MiB, three passes and one lane: two and a half times the work that
 * OWASP asks at least, and some 25 ms of one core. More memory would hurt small machines sooner than attackers.
 */
const COST = { memoryCost: 32 * 1024, timeCost: 3, parallelism: 1 } as const

/** A shorter word occurs in other words by chance. */
const REPEATED_LENGTH_MIN = 3

/** Two hashes at once keep the peak at 64 MiB; what cannot wait is refused for now. */
const HASHES_AT_ONCE = 2
const HASHES_WAITING_MAX = 200
const HASHES_WAITING_PER_CALLER_MAX = 20

/** Words of the account that do not make its password harder to guess. */
export type PasswordOwner = { username: string; email: string | null }

export type Passwords = {
  /** The hash in PHC form, which carries its own parameters and salt. */
  hash(password: string, caller?: string): Promise<string>
  /** Whether the password is right. Without a hash (unknown account, no password) it takes as long, and is false. */
  verify(hash: string | null, password: string, caller?: string): Promise<boolean>
  /**
   * Checks a new password; `owner` are words that do not make it harder to guess.
   * @throws ApiError `validation_error` naming `field` when it is not 8-256 characters long, repeats its owner's
   * name, or is too easy to guess.
   */
  check(password: string, owner: PasswordOwner, field: string, caller?: string): Promise<void>
  close(): Promise<void>
}

/**
 * Each of the functions throws 503 `service_unavailable` when too much of this work waits. `caller` is the address that
 * asks: callers take turns, so that one of them delays the others by no more than one piece of work.
 */
export function createPasswords(): Passwords {
  const limiter = createLimiter({
    running: HASHES_AT_ONCE,
    waiting: HASHES_WAITING_MAX,
    waitingPerCaller: HASHES_WAITING_PER_CALLER_MAX,
    refuse: () => overloaded('Too many sign-ins and sign-ups at this moment'),
  })
  const meter = createStrengthMeter()
  const hash = (password: string, caller?: string) =>
    limiter.run(async () => (await import('@node-rs/argon2')).hash(normalize(password), COST), caller)
  return {
    hash,
    verify: async (stored, password, caller) => {
      if (stored === null) {
        await hash(password, caller)
        return false
      }
      return limiter.run(async () => (await import('@node-rs/argon2')).verify(stored, normalize(password)), caller)
    },
    check: async (password, owner, field, caller) => {
      checkText(password, field, { min: PASSWORD_LENGTH_MIN, max: PASSWORD_LENGTH_MAX })
      if (repeatsOwner(password, owner)) throw validationError(field, REPEATS_OWNER)
      if ((await meter.score(password, wordsOf(owner), caller)) < SCORE_MIN) {
        throw validationError(
          field,
          'is too easy to guess; a few unrelated words, or what a password manager makes, will do',
        )
      }
    },
    close: () => meter.close(),
  }
}

/** The same password typed on another system may come as other code points (RFC 8265 asks for this form). */
function normalize(password: string): string {
  return password.normalize('NFC')
}

const REPEATS_OWNER = `must not repeat the username or the e-mail address; besides them it needs ${PASSWORD_LENGTH_MIN} characters`

/** Whether too little is left when the name, the address and their parts are taken out. */
function repeatsOwner(password: string, owner: PasswordOwner): boolean {
  const whole = password.normalize('NFC').toLowerCase()
  let rest = whole
  for (const word of wordsOf(owner).toSorted((a, b) => b.length - a.length)) {
    if (word.length >= REPEATED_LENGTH_MIN) rest = rest.replaceAll(word.toLowerCase(), '')
  }
  return rest !== whole && rest.replaceAll(/[^\p{L}\p{N}\p{S}]/gu, '').length < PASSWORD_LENGTH_MIN
}

/** The name, the address and their parts. */
function wordsOf({ username, email }: PasswordOwner): string[] {
  const whole = email === null ? [username] : [username, email]
  const parts = whole.flatMap((text) => text.split(/[^\p{L}\p{N}]+/u)).filter((part) => part.length >= 3)
  return [...new Set([...whole, ...parts])].slice(0, 20)
}
