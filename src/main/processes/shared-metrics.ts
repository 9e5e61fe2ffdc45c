// Adds the metrics of several processes: counters, gauges and histograms.
import { AggregatorRegistry, type MetricObject, type Registry } from 'prom-client'

/** The metrics of one process, in the form that it sends. */
export type SentMetrics = MetricObject[]

export const metricsOf = (registry: Registry): Promise<SentMetrics> =>
  registry.getMetricsAsJSON() as unknown as Promise<SentMetrics>

export class MetricsSum {
  #ended: SentMetrics = []

  /** Returns the sum in the text format of Prometheus. */
  text(current: readonly SentMetrics[]): Promise<string> {
    return sumOf([this.#ended, ...current]).metrics()
  }

  /** Adds the counters of a process that has ended, because the counters of the server must never decrease. */
  async addEnded(last: SentMetrics): Promise<void> {
    const counters = last.filter(({ type }) => ['counter', 'histogram'].includes(String(type)))
    this.#ended = await metricsOf(sumOf([this.#ended, counters]))
  }
}

const sumOf = (parts: readonly SentMetrics[]): Registry =>
  AggregatorRegistry.aggregate(parts.filter((part) => part.length > 0) as never)
