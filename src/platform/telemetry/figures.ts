// Counts what happens in a process until the counts are stored (src/features/operation/overview/figures). In contrast to
// the metrics, the stored figures cover all processes, and need no other program.

/** Upper limits of the response times, in milliseconds. Longer responses are counted after the last limit. */
export const DURATION_LIMITS = [
  1, 2, 3, 5, 8, 12, 20, 30, 50, 80, 120, 200, 300, 500, 800, 1_200, 2_000, 5_000, 10_000,
] as const

/** Probes of monitors, which are not requests of users. */
const PROBES: ReadonlySet<string> = new Set(['getHealth', 'getReadiness', 'getMetrics'])

/** Maximum number of different errors between two calls of `take`; others have the route `other`. */
const ERRORS_MAX = 100
export type ErrorCount = { code: string; route: string; count: number; requestId: string }
/** `counts`: requests and jobs by their result, and business events by name. */
export type TakenFigures = { counts: ReadonlyMap<string, number>; durations: number[]; errors: ErrorCount[] }

export type FigureCounts = {
  /** Counts a result of a job or an email, or a business event. */
  add(name: string): void
  /** `isTransfer`: the time depends on the client. It does not count in the response times. */
  request(request: { operation: string; status: number; milliseconds: number; isTransfer?: boolean | undefined }): void
  /** Counts a response with 5xx. */
  error(error: { code: string; route: string; requestId: string }): void
  /** Returns the counts since the last call. */
  take(): TakenFigures
}

export function createFigureCounts(): FigureCounts {
  let counts = new Map<string, number>()
  let durations = noDurations()
  let errors = new Map<string, ErrorCount>()
  const add = (name: string): void => {
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return {
    add,
    request({ operation, status, milliseconds, isTransfer }) {
      if (PROBES.has(operation)) return
      add('requests')
      if (status === 429) add('limited')
      else if (status >= 500) add('failed')
      else if (status >= 400) add('refused')
      if (isTransfer === true) return
      const slot = DURATION_LIMITS.findIndex((limit) => milliseconds <= limit)
      const index = slot < 0 ? DURATION_LIMITS.length : slot
      durations[index] = (durations[index] ?? 0) + 1
    },
    error({ code, route, requestId }) {
      const isKnown = errors.size < ERRORS_MAX || errors.has(`${code} ${route}`)
      const named = isKnown ? route : 'other'
      const key = `${code} ${named}`
      const count = (errors.get(key)?.count ?? 0) + 1
      errors.set(key, { code, route: named, count, requestId })
    },
    take() {
      const taken = { counts, durations, errors: [...errors.values()] }
      counts = new Map()
      durations = noDurations()
      errors = new Map()
      return taken
    },
  }
}

export const noDurations = (): number[] => Array.from({ length: DURATION_LIMITS.length + 1 }, () => 0)

/**
 * Returns the time in milliseconds within which the share `part` of the requests was answered; null without requests.
 * Interpolates between two limits. Times above the last limit are reported as this limit.
 */
export function percentile(durations: readonly number[], part: number): number | null {
  const total = durations.reduce((sum, count) => sum + count, 0)
  if (total === 0) return null
  const rank = total * part
  let below = 0
  for (const [index, count] of durations.entries()) {
    const upper = DURATION_LIMITS[index] ?? DURATION_LIMITS.at(-1) ?? 0
    if (below + count >= rank && count > 0) {
      const lower = DURATION_LIMITS[index - 1] ?? 0
      const milliseconds = lower + ((rank - below) / count) * Math.max(0, upper - lower)
      return Math.round(Math.min(upper, milliseconds) * 10) / 10
    }
    below += count
  }
  return DURATION_LIMITS.at(-1) ?? null
}
