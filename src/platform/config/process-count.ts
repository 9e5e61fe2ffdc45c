import { availableParallelism } from 'node:os'

/** More than that is for operators to ask for: each takes memory and connections. */
const AUTO_MAX = 16

/** How many processes answer requests, by the text of HTTP_PROCESSES. */
export function processCount(asked: string): number {
  return asked === 'auto' ? Math.min(AUTO_MAX, availableParallelism()) : Number(asked)
}
