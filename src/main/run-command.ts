// Runs a command of Depot in a separate process, so that long work does not delay the responses of the server.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants, setPriority } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { OperatorError } from '#lib/operator-error.ts'

const ENTRY = join(import.meta.dirname, '../../bin/depot.mjs')

/** Runs a command with the settings of this process. @throws OperatorError with the message of a failed command. */
export async function runCommand(words: readonly string[], signal: AbortSignal): Promise<void> {
  // `prepare` adds the variables of the settings file to the environment.
  const child = spawn(process.execPath, [ENTRY, ...words], { stdio: ['ignore', 'ignore', 'pipe'] })
  const stop = (): void => void child.kill('SIGTERM')
  signal.addEventListener('abort', stop)
  if (signal.aborted) stop()
  try {
    if (child.pid !== undefined) lowerPriority(child.pid)
    const [output, [code, killedBy]] = await Promise.all([text(child.stderr), once(child, 'close')])
    signal.throwIfAborted()
    if (code === 0) return
    const reason = output.trim().split('\n').at(-1) ?? ''
    const command = `\`depot ${words.join(' ')}\``
    throw new OperatorError(reason === '' ? `${command} ended with ${killedBy ?? code}. Run it in a terminal.` : reason)
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

/** Requests have precedence. */
function lowerPriority(pid: number): void {
  try {
    setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL)
  } catch {
    // It has ended.
  }
}
