// Hashes, verifies and rates passwords. The work runs outside the main thread and is limited, so that many sign-ins at
// the same time neither exhaust memory nor delay other requests.

import { createLimiter, overloaded } from '#lib/concurrency/limiter.ts'
import { validationError } from '#lib/errors.ts'
import { checkText } from '#lib/text/text-rules.ts'
import { createStrengthMeter } from './strength-meter.ts'

export const PASSWORD_LENGTH_MIN = 8
export const PASSWORD_LENGTH_MAX = 256

/** Minimum score of zxcvbn (0 to 4). A score of 3 means that about 10^8 guesses are needed. */
const SCORE_MIN = 3

/**
 * argon2id (the library's default) with 32 MiB, 3 passes and 1 lane: 2.5 times the minimum of OWASP, about 25 ms of one
 * core. More memory would affect small machines more than attackers.
 */
const COST = { memoryCost: 32 * 1024, timeCost: 3, parallelism: 1 } as const

/** Shorter words occur in other words by chance. */
const REPEATED_LENGTH_MIN = 3

/** Two concurrent hashes need at most 64 MiB. Requests beyond the queue are rejected. */
const CONCURRENT_HASHES = 2
const HASHES_WAITING_MAX = 200
const HASHES_WAITING_PER_CALLER_MAX = 20

/** Reasons why a password is weak, by the warnings of zxcvbn. */
const WEAKNESSES = {
  straightRow: 'keys',
  keyPattern: 'keys',
  simpleRepeat: 'repeat',
  extendedRepeat: 'repeat',
  sequences: 'sequence',
  recentYears: 'date',
  dates: 'date',
  topTen: 'common',
  topHundred: 'common',
  common: 'common',
  similarToCommon: 'common',
  wordByItself: 'word',
  namesByThemselves: 'word',
  commonNames: 'word',
  userInputs: 'owner',
} as const

export type Weakness = 'short' | 'guessable' | (typeof WEAKNESSES)[keyof typeof WEAKNESSES]

/** A password while its owner types it. `weakness` is undefined if the password is accepted. */
export type PasswordRating = { score: number; weakness: Weakness | undefined; missing: number }

/** Words of an account that attackers try first. */
export type PasswordOwner = { username: string; email: string | null }

export type Passwords = {
  /** Returns the hash in PHC format, which contains parameters and salt. */
  hash(password: string, caller?: string): Promise<string>
  /** Returns whether the password is right. Takes the same time without a hash, that is, for an unknown account. */
  verify(hash: string | null, password: string, caller?: string): Promise<boolean>
  /**
   * Validates a new password.
   * @throws ApiError `validation_error` naming `field` if it has not 8 to 256 characters, repeats words of its owner, or
   * is too easy to guess.
   */
  check(password: string, owner: PasswordOwner, field: string, caller?: string): Promise<void>
  /** Rates a password by the rules of `check`. `missing` is the number of missing characters. */
  rate(password: string, owner: PasswordOwner, caller?: string): Promise<PasswordRating>
  close(): Promise<void>
}

/**
 * Each function throws 503 `service_unavailable` if the queue is full. `caller` is the client's IP address: callers take
 * turns, so that one caller delays the others by at most one operation.
 */
export function createPasswords(): Passwords {
  const limiter = createLimiter({
    running: CONCURRENT_HASHES,
    waiting: HASHES_WAITING_MAX,
    waitingPerCaller: HASHES_WAITING_PER_CALLER_MAX,
    refuse: () => overloaded('Too many sign-ins and sign-ups at the moment'),
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
      if ((await meter.rate(password, wordsOf(owner), caller)).score < SCORE_MIN)
        throw validationError(field, 'is too easy to guess; use a few unrelated words or a password manager')
    },
    rate: async (password, owner, caller) => {
      const missing = PASSWORD_LENGTH_MIN - [...password].length
      if (missing > 0) return { score: 0, weakness: 'short', missing }
      if (repeatsOwner(password, owner)) return { score: 0, weakness: 'owner', missing: 0 }
      const { score, warning } = await meter.rate(password, wordsOf(owner), caller)
      const known = (WEAKNESSES as Readonly<Record<string, Weakness>>)[warning ?? '']
      return { score, weakness: score < SCORE_MIN ? (known ?? 'guessable') : undefined, missing: 0 }
    },
    close: () => meter.close(),
  }
}

/** Returns the form of RFC 8265, because systems encode the same typed password differently. */
function normalize(password: string): string {
  return password.normalize('NFC')
}

const REPEATS_OWNER = `must have at least ${PASSWORD_LENGTH_MIN} characters in addition to the username or email address`

/** Returns whether the password is too short without the username, the email address and their parts. */
function repeatsOwner(password: string, owner: PasswordOwner): boolean {
  const whole = password.normalize('NFC').toLowerCase()
  let rest = whole
  for (const word of wordsOf(owner).toSorted((a, b) => b.length - a.length)) {
    if (word.length >= REPEATED_LENGTH_MIN) rest = rest.replaceAll(word.toLowerCase(), '')
  }
  return rest !== whole && rest.replaceAll(/[^\p{L}\p{N}\p{S}]/gu, '').length < PASSWORD_LENGTH_MIN
}

/** Returns the username, the email address and their parts. */
function wordsOf({ username, email }: PasswordOwner): string[] {
  const whole = email === null ? [username] : [username, email]
  const parts = whole.flatMap((text) => text.split(/[^\p{L}\p{N}]+/u)).filter((part) => part.length >= 3)
  return [...new Set([...whole, ...parts])].slice(0, 20)
}
