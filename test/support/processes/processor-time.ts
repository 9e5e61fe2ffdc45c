// Processor time of the thread that serves requests: it does not depend on other load on the machine.

/** Milliseconds of processor time that this thread has used while `act` ran. */
export async function processorMs<T>(act: () => Promise<T>): Promise<{ result: T; ms: number }> {
  const before = process.threadCpuUsage()
  const result = await act()
  return { result, ms: total(process.threadCpuUsage(before)) }
}

/**
 * The longest time, in milliseconds of processor time, for which the event loop came round to nobody else while `act`
 * ran. It keeps the loop turning, so measure with it what is worth it.
 */
export async function longestHoldMs<T>(act: () => Promise<T>): Promise<{ result: T; ms: number }> {
  let isDone = false
  let longest = 0
  let last = process.threadCpuUsage()
  const note = (): void => {
    const now = process.threadCpuUsage()
    longest = Math.max(longest, total(now) - total(last))
    last = now
    if (!isDone) setImmediate(note)
  }
  setImmediate(note)
  const result = await act()
  isDone = true
  note()
  return { result, ms: longest }
}

/**
 * Returns how much slower this machine currently is than the reference machine, at least 1. Tests multiply limits by
 * it, so that a busy machine does not look like a defect.
 */
export function slowness(): number {
  const text = JSON.stringify(Array.from({ length: 2_000 }, (_, n) => ({ id: n, name: `name ${n}`, list: [n, n] })))
  const runs = Array.from({ length: 5 }, () => {
    const before = process.threadCpuUsage()
    for (let i = 0; i < 4; i += 1) JSON.parse(text)
    return total(process.threadCpuUsage(before))
  })
  return Math.max(1, Math.min(...runs) / REFERENCE_MS)
}

/** Time in milliseconds that the work of `slowness` took on the idle reference machine. */
const REFERENCE_MS = 3

function total({ user, system }: NodeJS.CpuUsage): number {
  return (user + system) / 1000
}
