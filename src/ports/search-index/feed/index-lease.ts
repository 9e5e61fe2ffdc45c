// The index lease: which process feeds the search index, and up to which database snapshot the saved index is current.
import Type, { type Static } from 'typebox'

export const SavedState = Type.Object({
  /** Everything that was committed up to this snapshot is in the index; newer changes can be as well. */
  snapshot: Type.String(),
  database: Type.String(),
  basis: Type.String(),
  /** Number of the last request to rebuild that this index fulfils. */
  rebuilt: Type.Integer({ minimum: 0 }),
  /** Identity of an index outside of the process. */
  identity: Type.Optional(Type.String()),
})
export type SavedState = Static<typeof SavedState>

/** The lease of the process that feeds the index. */
export type IndexLease = {
  /** File in which an in-memory index is saved. */
  snapshotFile?: string
  /** Returns undefined if there is no state, or if it cannot be read. */
  readState(): Promise<SavedState | undefined>
  /** Stores the state that was valid before the index was saved. Rejects if the lease is lost. */
  writeState(state: SavedState): Promise<void>
  /** Whether another process could have the lease now. */
  isLost(): boolean
  /** Checks the connection that holds the lease. */
  check(): Promise<void>
  release(): Promise<void>
}

export type IndexLeases = {
  /** Returns undefined while another process has the lease. */
  acquire(): Promise<IndexLease | undefined>
  /** Reads the state that the feeder of a shared index has stored. Undefined for an index that is not shared. */
  watch?(): Promise<SavedState | undefined>
}
