// The messages between the processes of one `depot serve`.
import type { Changes, Counts } from '#platform/cache/changes.ts'

export type PeerProcesses = {
  /**
   * Resolves when no other process uses what a commit has replaced. A client that gets its response after that, and sends
   * its next request to another process, reads what was written. Never rejects.
   */
  invalidate(changes: Changes, counts: Counts): Promise<void>
  /** Stores the events that the other processes have accepted before the call. */
  flushEvents(): Promise<void>
  /** Returns the sum of the metrics of all processes, in the text format of Prometheus. */
  metrics?: () => Promise<string>
}

/** The peers of a server with one process. */
export const NO_PEERS: PeerProcesses = { invalidate: async () => {}, flushEvents: async () => {} }
