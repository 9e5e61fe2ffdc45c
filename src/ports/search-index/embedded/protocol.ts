// The messages between the process and its search thread. What is sent travels as JSON text, which is made and read
// faster than the copies that threads make of objects; several searches share a message, and come back as the bytes of
// all their answers in one transferred buffer.
import type { SearchDocument } from '../document.ts'
import type { SearchChange, SearchIndexStatus } from '../search-index.ts'

/** Handed to the thread when it starts. */
export type WorkerData = { readonly snapshotFile: string | undefined }

/** Work other than searching; done in the order sent, one at a time. Sent as JSON. */
export type Command =
  | { readonly kind: 'apply'; readonly changes: readonly SearchChange[] }
  | { readonly kind: 'rebuild-begin' }
  | { readonly kind: 'rebuild-add'; readonly sequence: number; readonly documents: readonly SearchDocument[] }
  | { readonly kind: 'rebuild-end'; readonly sequence: number }
  | { readonly kind: 'rebuild-abort' }
  | { readonly kind: 'checkpoint' }
  | { readonly kind: 'status' }
  | { readonly kind: 'close' }

export type Request =
  | {
      readonly kind: 'search'
      readonly ids: readonly number[]
      /** What is asked, but for the filter, as JSON. */
      readonly queries: readonly string[]
      /**
       * The filters as JSON, by which the thread also knows one that it has seen before. Where it is an array of them,
       * the hits of each are counted, and the bytes of the answer are an array of numbers.
       */
      readonly filters: readonly string[]
    }
  | { readonly kind: 'command'; readonly id: number; readonly command: string }

export type Reply =
  /** Loaded: searches are answered from now on. `snapshotError`: why there was a snapshot that could not be used. */
  | { readonly kind: 'ready'; readonly status: SearchIndexStatus; readonly snapshotError: string | undefined }
  /** Answer i is `bytes` from the end of the one before up to `ends[i]`; a total of -1 marks a failure. */
  | {
      readonly kind: 'found'
      readonly ids: readonly number[]
      readonly ends: readonly number[]
      readonly totals: readonly number[]
      readonly bytes: Uint8Array<ArrayBuffer>
    }
  | { readonly kind: 'done'; readonly id: number; readonly status: SearchIndexStatus }
  | { readonly kind: 'failed'; readonly id: number; readonly reason: string }
