// The end of commands whose output cannot be written.
import { OperatorError, systemCode } from '#lib/operator-error.ts'
import { explain } from './explain.ts'

/**
 * Lets a command finish its work if its output cannot be written. Then it ends with a sentence, or silently if the program that
 * reads the output has exited: `depot user list | head -1` does not fail. The log of a server is not a result.
 */
export function watchOutput({ isServer }: { isServer: boolean }): void {
  let failure: Error | undefined
  process.stdout.on('error', (error) => {
    failure ??= error
  })
  process.stderr.on('error', () => undefined)
  process.once('exit', (code) => {
    if (isServer || code !== 0 || failure === undefined || systemCode(failure) === 'EPIPE') return
    process.exitCode = 1
    const problem = `Cannot write to standard output: ${failure.message}`
    process.stderr.write(`${explain(new OperatorError(problem, { cause: failure }))}\n`)
  })
}
