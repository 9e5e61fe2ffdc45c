// The port for commands of Depot that the server runs in a separate process, so that long work does not delay responses.
import type { Readable } from 'node:stream'

export interface Commands {
  /** Runs a command to its end. @throws OperatorError with the message of a failed command */
  run(words: readonly string[], signal: AbortSignal): Promise<void>
  /**
   * Returns the standard output of a command. It fails with an OperatorError if the command fails, so that nobody takes an
   * incomplete output for a complete one.
   */
  open(words: readonly string[], signal: AbortSignal): Readable
}
