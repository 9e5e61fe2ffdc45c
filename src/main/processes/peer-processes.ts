// What the processes of one `depot serve` tell each other. A server of one process has no peers.
import type { Changes, Counts } from '#platform/cache/changes.ts'

export type PeerProcesses = {
  /**
   * Resolves when no other process answers with what a commit has replaced: a client that is answered after that and
   * asks another process next reads what was written. Never rejects.
   */
  invalidate(changes: Changes, counts: Counts): Promise<void>
  /** Stores the events that the other processes have accepted before the call. */
  flushEvents(): Promise<void>
  /** The metrics of all processes together, in the text format of Prometheus. */
  metrics(): Promise<string>
}
