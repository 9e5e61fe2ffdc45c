// Test support: a store with chosen operations out of order, to show what the service does when its disk is full.
import { type Files, hostingError } from '#ports/files/files.ts'

type Operation = keyof Files
/** An error for every call, or a function asked at each call; undefined lets the call through. */
type Failure = Error | (() => Error | undefined)

/**
 * `files` with errors: the named operations reject as an adapter does, with `file_hosting_error` and the error as its
 * cause, and do not reach the store.
 */
export function failingFiles(files: Files, problems: Partial<Record<Operation, Failure>>): Files {
  const guarded = <Args extends unknown[], T>(operation: Operation, call: (...args: Args) => Promise<T>) => {
    return async (...args: Args): Promise<T> => {
      const problem = problems[operation]
      const error = typeof problem === 'function' ? problem() : problem
      if (error !== undefined) throw hostingError(error)
      return call(...args)
    }
  }
  return {
    stage: guarded('stage', files.stage),
    receive: guarded('receive', files.receive),
    publish: guarded('publish', files.publish),
    put: guarded('put', files.put),
    putAll: guarded('putAll', files.putAll),
    putStream: guarded('putStream', files.putStream),
    flush: guarded('flush', files.flush),
    readAll: guarded('readAll', files.readAll),
    open: guarded('open', files.open),
    stat: guarded('stat', files.stat),
    list: files.list,
    remove: guarded('remove', files.remove),
    discard: guarded('discard', files.discard),
    link: guarded('link', files.link),
    assertAvailable: guarded('assertAvailable', files.assertAvailable),
    close: files.close,
    sweep: guarded('sweep', files.sweep),
    check: guarded('check', files.check),
  }
}
