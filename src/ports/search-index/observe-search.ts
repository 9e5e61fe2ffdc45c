// Metrics of the search index.
import { gauge, once, type Registered } from '#platform/telemetry/observe.ts'

/** State of the search index of a process. */
type SearchStats = { state: string; documents: number; memoryBytes: number; isFeeding: boolean }

/** Registers metrics of the search index. */
export function observeSearch(metrics: Registered, ask: () => Promise<SearchStats>): void {
  const stats = once(ask)
  gauge(metrics, {
    name: 'depot_search_documents',
    help: 'Projects in the search index',
    read: async () => (await stats()).documents,
  })
  gauge(metrics, {
    name: 'depot_search_feeding',
    help: '1 while this process feeds the search index; only one process feeds a shared index',
    read: async () => Number((await stats()).isFeeding),
  })
  gauge(metrics, {
    name: 'depot_search_building',
    help: '1 while the search index is built or rebuilt',
    read: async () => Number(['building', 'rebuilding'].includes((await stats()).state)),
  })
  gauge(metrics, {
    name: 'depot_search_up',
    help: '1 while search works and the index follows the database',
    read: async () => Number(['ready', 'rebuilding'].includes((await stats()).state)),
  })
}
