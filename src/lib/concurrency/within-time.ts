/** Waits for a result. After `timeoutMs`, calls `onLate` and throws the error that it returns. */
export async function withinTime<T>(result: T | Promise<T>, timeoutMs: number, onLate: () => Error): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  let isSettled = false
  // Results that arrived while this process was busy are read first.
  const timer = setTimeout(() => setImmediate(() => isSettled || reject(onLate())), timeoutMs)
  try {
    return await Promise.race([result, late])
  } finally {
    isSettled = true
    clearTimeout(timer)
  }
}
