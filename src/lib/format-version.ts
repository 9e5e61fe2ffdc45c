import { OperatorError } from './operator-error.ts'

/**
 * Checks the version of a format on disk or between processes.
 * @param what the data, as the subject of a sentence
 * @throws OperatorError if a newer version of Depot wrote it
 */
export function requireKnownFormat(what: string, found: number, known: number): void {
  if (found <= known) return
  throw new OperatorError(
    `${what} has format ${found} of a newer version of Depot; this version knows formats up to ${known}. ` +
      'Install the release of Depot that last used it, or a newer one.',
  )
}
