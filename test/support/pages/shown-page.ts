// A page with data, as the browser suite and the tests of its size and statements open it.
import type { Person } from '../factories/factories.ts'

export type ShownPage = {
  name: string
  /** Operation of its route. */
  operation: string
  path: string
  /** The user who opens the page. Default: a visitor without a session */
  by?: Person
  /** Default: 200 */
  status?: number
}

/** Returns a function that describes a page of one user, or of visitors. */
export const pagesOf =
  (by?: Person) =>
  (name: string, operation: string, path: string, more: Partial<ShownPage> = {}): ShownPage => ({
    name,
    operation,
    path,
    ...(by && { by }),
    ...more,
  })
