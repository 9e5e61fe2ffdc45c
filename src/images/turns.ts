// Turns: so many at work at once, so many waiting, and no more.
import { ApiError } from '#lib/errors.ts'

export type Turns = <Result>(work: () => Promise<Result>) => Promise<Result>

/**
 * Runs work in the order it arrives, at most `atOnce` at a time with `waiting` more in line.
 * @throws ApiError `ratelimit_error` with `Retry-After` when the line is full.
 */
export function createTurns(atOnce: number, waiting: number): Turns {
  const line: (() => void)[] = []
  let running = 0
  return async (work) => {
    if (running < atOnce) running += 1
    else {
      if (line.length >= waiting)
        throw new ApiError('ratelimit_error', 'Too many pictures are being worked on; try again in a moment', {
          headers: { 'Retry-After': '1' },
        })
      // The one that ends hands its turn on, so that `running` does not change in between.
      await new Promise<void>((resolve) => line.push(resolve))
    }
    try {
      return await work()
    } finally {
      const next = line.shift()
      if (next === undefined) running -= 1
      else next()
    }
  }
}
