// Statistics of times in milliseconds.

export type Times = { readonly p50: number; readonly p99: number }

const WARM_UP = 5

/** Runs something again and again, after a few times that do not count. */
export async function time(runs: number, run: (i: number) => unknown): Promise<Times> {
  const samples: number[] = []
  for (let i = 0; i < WARM_UP; i += 1) await once(() => run(i))
  for (let i = 0; i < runs; i += 1) samples.push(await once(() => run(i)))
  return summary(samples)
}

export async function once(run: () => unknown): Promise<number> {
  const start = performance.now()
  const result = run()
  if (result instanceof Promise) await result
  return performance.now() - start
}

export function summary(samples: number[]): Times {
  samples.sort((a, b) => a - b)
  const at = (share: number) => samples[Math.min(samples.length - 1, Math.floor(samples.length * share))] ?? 0
  return { p50: at(0.5), p99: at(0.99) }
}

export function show({ p50, p99 }: Times): string {
  return `median ${p50.toFixed(3)}, p99 ${p99.toFixed(3)}`
}

export function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`
}
