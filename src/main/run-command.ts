// Runs commands of Depot in separate processes.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants, setPriority } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { OperatorError } from '#lib/operator-error.ts'
import type { Commands } from '#ports/commands.ts'

const ENTRY = join(import.meta.dirname, '../../bin/depot.mjs')

/** Commands run with the settings of this process. */
export const COMMANDS: Commands = {
  run: (words, signal) => start(words, 'ignore', signal).ended,
  open(words, signal) {
    const { child, ended } = start(words, 'pipe', signal)
    const output = new PassThrough()
    child.stdout?.pipe(output, { end: false })
    ended.then(
      () => output.end(),
      (error: Error) => output.destroy(error),
    )
    return output
  },
}

function start(
  words: readonly string[],
  stdout: 'ignore' | 'pipe',
  signal: AbortSignal,
): { child: ChildProcess; ended: Promise<void> } {
  // `prepare` adds the variables of the settings file to the environment.
  const child = spawn(process.execPath, [ENTRY, ...words], { stdio: ['ignore', stdout, 'pipe'] })
  const stop = (): void => void child.kill('SIGTERM')
  signal.addEventListener('abort', stop)
  if (signal.aborted) stop()
  if (child.pid !== undefined) lowerPriority(child.pid)
  const ended = result(child, words, signal).finally(() => signal.removeEventListener('abort', stop))
  return { child, ended }
}

async function result(child: ChildProcess, words: readonly string[], signal: AbortSignal): Promise<void> {
  const [output, [code, killedBy]] = await Promise.all([
    child.stderr === null ? '' : text(child.stderr),
    once(child, 'close'),
  ])
  signal.throwIfAborted()
  if (code === 0) return
  const reason = output.trim().split('\n').at(-1) ?? ''
  const command = `\`depot ${words.join(' ')}\``
  throw new OperatorError(reason === '' ? `${command} ended with ${killedBy ?? code}. Run it in a terminal.` : reason)
}

/** Requests have precedence. */
function lowerPriority(pid: number): void {
  try {
    setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL)
  } catch {
    // It has ended.
  }
}
