// Calls the checker. Its program in plain JavaScript runs on every platform.
import { createRequire } from 'node:module'
import type { checkSync, Parameters } from 'recheck'

const recheck = createRequire(import.meta.url)('recheck/lib/browser.js') as { checkSync: typeof checkSync }
/** Without limits of time for its steps, the checker returns the same result on every machine. */
const OPTIONS: Parameters = {
  timeout: 60_000,
  randomSeed: 1,
  attackTimeout: null,
  incubationTimeout: null,
  seedingTimeout: null,
}

/** Returns the problem of an expression; null if its time grows no faster than its input. */
export function problemOfExpression(source: string, flags: string): string | null {
  const result = recheck.checkSync(source, flags, OPTIONS)
  if (result.status === 'safe') return null
  if (result.status === 'unknown') return `cannot be checked (${result.error.kind})`
  return `takes ${result.complexity.summary} time, for example for ${result.attack.pattern}`
}
