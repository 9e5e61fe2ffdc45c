// Where it is kept up to which moment an index has followed the database, and by whom it is fed.
import Type, { type Static } from 'typebox'

export const SavedState = Type.Object({
  /** Everything committed up to this snapshot is in the index, and perhaps more. */
  snapshot: Type.String(),
  database: Type.String(),
  basis: Type.String(),
  /** The last request to rebuild that this index has met. */
  rebuilt: Type.Integer({ minimum: 0 }),
  /** Which index this was, for one that lies outside of the process. */
  identity: Type.Optional(Type.String()),
})
export type SavedState = Static<typeof SavedState>

/** Held by the one process that feeds the index. */
export type IndexLease = {
  /** Where an index in memory is saved. */
  snapshotFile?: string
  /** Undefined when there is none, or none that can be read. */
  readState(): Promise<SavedState | undefined>
  /** Call it when the index has been saved, with what was true before that. Fails when the lease is lost. */
  writeState(state: SavedState): Promise<void>
  /** Whether another process may have taken the lease meanwhile. */
  isLost(): boolean
  /** Finds out. */
  check(): Promise<void>
  release(): Promise<void>
}

export type IndexLeases = {
  /** Takes the lease; undefined while another process has it. */
  acquire(): Promise<IndexLease | undefined>
  /** For an index that processes share: what the one that feeds it has written down. */
  watch?(): Promise<SavedState | undefined>
}
