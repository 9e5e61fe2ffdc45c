// Releases the memory that a start or the first build of the search index has used, and that V8 would keep.

const CHECK_MS = 10_000
/** Share of its time that the event loop of an idle server works. */
const IDLE_SHARE_MAX = 0.05

/** Collects garbage when the event loop has been idle for the first time, because the main thread stops for 0.1 to 0.2 s. */
export function releaseMemoryWhenIdle(): void {
  let last = performance.eventLoopUtilization()
  const timer = setInterval(() => {
    const current = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(current, last)
    last = current
    if (utilization > IDLE_SHARE_MAX) return
    clearInterval(timer)
    void collectGarbage()
  }, CHECK_MS)
  timer.unref()
}

async function collectGarbage(): Promise<void> {
  const { Session } = await import('node:inspector/promises')
  const session = new Session()
  session.connect()
  await session.post('HeapProfiler.collectGarbage')
  session.disconnect()
}
