// Messages between the process and its search thread. Nested values are sent as JSON, which is faster than a structured
// clone of objects. Several searches share a message; one transferred buffer returns all their results.
import type { SearchIndexStatus } from '../search-index.ts'
import type { PreparedChange } from './prepare.ts'

export type WorkerData = { readonly snapshotFile: string | undefined }

/** Work other than searches. The thread runs one command at a time, in order. */
export type Command =
  | { readonly kind: 'apply'; readonly changes: readonly PreparedChange[] }
  | { readonly kind: 'rebuild-begin' }
  | { readonly kind: 'rebuild-add'; readonly changes: readonly PreparedChange[] }
  | { readonly kind: 'rebuild-end'; readonly sequence: number }
  | { readonly kind: 'rebuild-abort' }
  | { readonly kind: 'checkpoint' }
  | { readonly kind: 'status' }
  | { readonly kind: 'close' }

export type Request =
  | {
      readonly kind: 'search'
      readonly ids: readonly number[]
      /** The queries without their filters, as JSON. */
      readonly queries: readonly string[]
      /**
       * The filters as JSON, which is also their key in caches. For an array of filters, the thread counts the hits of
       * each and returns an array of numbers.
       */
      readonly filters: readonly string[]
    }
  | { readonly kind: 'command'; readonly id: number; readonly command: Command }

export type Reply =
  /** The thread accepts searches. `snapshotError`: why an existing snapshot could not be read. */
  | { readonly kind: 'ready'; readonly status: SearchIndexStatus; readonly snapshotError: string | undefined }
  /** Result i is in `bytes` from the end of the previous one up to `ends[i]`. A total of -1 marks a failure. */
  | {
      readonly kind: 'found'
      readonly ids: readonly number[]
      readonly ends: readonly number[]
      readonly totals: readonly number[]
      readonly bytes: Uint8Array<ArrayBuffer>
    }
  | { readonly kind: 'done'; readonly id: number; readonly status: SearchIndexStatus }
  | { readonly kind: 'failed'; readonly id: number; readonly reason: string }
