// Runs commands in this process, without starting a process for each.
import { Readable } from 'node:stream'
import { mock } from 'node:test'
import { main } from '#cli/main.ts'
import { type Finished, withoutProgress } from './running-depot.ts'

/** Runs one command to its end with `input` as its standard input. One at a time. Omits its progress. */
export async function commandHere(
  args: readonly string[],
  env: Record<string, string | undefined>,
  input = '',
): Promise<Finished> {
  const printed = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    const write = process[name].write.bind(process[name])
    // The runner of tests writes bytes meanwhile, and no text.
    mock.method(process[name], 'write', (part: string | Uint8Array, ...rest: never[]) => {
      if (typeof part !== 'string') return write(part, ...rest)
      printed[name] += part
      return true
    })
  }
  const { stdin } = process
  Object.defineProperty(process, 'stdin', { value: Readable.from([Buffer.from(input)]), configurable: true })
  // A command changes the umask of its process.
  const umask = process.umask(0o022)
  try {
    await main(args, env)
    return { code: Number(process.exitCode ?? 0), stdout: printed.stdout, stderr: withoutProgress(printed.stderr) }
  } finally {
    process.umask(umask)
    process.exitCode = undefined
    Object.defineProperty(process, 'stdin', { value: stdin, configurable: true })
    mock.restoreAll()
  }
}
