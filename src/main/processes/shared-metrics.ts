// Metrics of several processes as one: counts, gauges and histograms are added up.
import { AggregatorRegistry, type MetricObject, type Registry } from 'prom-client'

/** What a process sends of its registry. */
export type SentMetrics = MetricObject[]

export const metricsOf = (registry: Registry): Promise<SentMetrics> =>
  registry.getMetricsAsJSON() as unknown as Promise<SentMetrics>

export type MetricsSum = {
  /** The sum, in the text format of Prometheus. */
  text(current: readonly SentMetrics[]): Promise<string>
  /** Keeps the counts of a process that has ended: a count never goes back because its process was replaced. */
  keep(last: SentMetrics): Promise<void>
}

export function createMetricsSum(): MetricsSum {
  let ended: SentMetrics = []
  const add = (parts: readonly SentMetrics[]): Registry =>
    AggregatorRegistry.aggregate(parts.filter((part) => part.length > 0) as never)
  return {
    text: (current) => add([ended, ...current]).metrics(),
    async keep(last) {
      const counts = last.filter(({ type }) => ['counter', 'histogram'].includes(String(type)))
      ended = await metricsOf(add([ended, counts]))
    },
  }
}
