// Declares when a job runs, next to its handler.
import type { JobName, Jobs, NoPayload } from './queue.ts'
import type { Schedule } from './schedule.ts'

/** Times are in UTC. A job without times runs only when code enqueues it. */
export type JobOptions = {
  everyMinutes?: number
  /** Offset of `everyMinutes`. */
  atMinute?: number
  /** Minute of each hour. */
  hourly?: number
  /** Time of each day: `04:13`. */
  daily?: `${number}:${number}`
  /** Skips its turn in read-only mode. Such a job must find its work again later. */
  changesContent?: true
}

type Handle<Payload> = (payload: Payload, signal: AbortSignal) => Promise<void>

/**
 * Handlers by job name. A job can run more than once, for example if the process dies before it records the result. So
 * each handler must be idempotent and explain why in a comment.
 */
export type JobHandlers = { [Name in JobName]: Handle<Jobs[Name]> & { options?: JobOptions } }

export const job = <Payload = NoPayload>(
  options: JobOptions,
  handle: Handle<Payload>,
): Handle<Payload> & { options: JobOptions } => Object.assign(handle, { options })

const entriesOf = (handlers: JobHandlers) => Object.entries(handlers) as [JobName, JobHandlers['files.sweep']][]

/** Returns when the handlers run. */
export function scheduleOf(handlers: JobHandlers): Schedule {
  return entriesOf(handlers).flatMap(([name, { options = {} }]) => {
    const { hourly, daily, everyMinutes, atMinute = 0 } = options
    if (hourly !== undefined) return [{ job: name, everyMinutes: 60, atMinute: hourly }]
    if (everyMinutes !== undefined) return [{ job: name, everyMinutes, atMinute }]
    if (daily === undefined) return []
    const [hour = 0, minute = 0] = daily.split(':').map(Number)
    return [{ job: name, everyMinutes: 24 * 60, atMinute: hour * 60 + minute }]
  })
}

/** Returns the handlers; those that change content skip their turn in read-only mode. */
export function unlessReadOnly(handlers: JobHandlers, isReadOnly: () => Promise<boolean>): JobHandlers {
  const waiting = entriesOf(handlers).flatMap(([name, handle]) => {
    if (handle.options?.changesContent !== true) return []
    const run: Handle<NoPayload> = async (payload, signal) => {
      if (!(await isReadOnly())) await handle(payload, signal)
    }
    return [[name, job(handle.options, run)]]
  })
  return { ...handlers, ...Object.fromEntries(waiting) }
}
