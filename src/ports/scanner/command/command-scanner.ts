// Runs a program as scanner, once per file. Its last argument is the path of the file, standard input is the description
// of the file as JSON. It prints its verdict and exits with 0.
import { type ChildProcess, spawn } from 'node:child_process'
import { dirname } from 'node:path'
import { describeFile, oneLine, parseScanResult, RESPONSE_BYTES_MAX, type Scanner, ScannerFailure } from '../scanner.ts'

type Finished = { code: number | null; signal: NodeJS.Signals | null; output: string; errors: string }

/** Does not contain the environment of the server, which includes secrets. `PATH` includes the Node.js of Depot. */
const ENVIRONMENT = {
  PATH: `/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:${dirname(process.execPath)}`,
  LANG: 'C.UTF-8',
}

/** `words`: the program and its arguments, which no shell interprets. */
export function createCommandScanner(options: { words: readonly string[]; timeoutMs: number }): Scanner {
  const { words, timeoutMs } = options
  const [program = '', ...args] = words
  return {
    async scan(file, signal) {
      const limit = AbortSignal.timeout(timeoutMs)
      const finished = await run(program, [...args, file.path], {
        input: describeFile(file),
        signal: AbortSignal.any([signal, limit]),
      })
      if (limit.aborted) throw new ScannerFailure(`The scanner did not respond within ${timeoutMs} ms`)
      if (signal.aborted) throw new ScannerFailure('The scan was cancelled')
      const { code, output, errors } = finished
      if (code !== 0) {
        const how = code === null ? `was killed by ${finished.signal}` : `exited with ${code}`
        throw new ScannerFailure(`The scanner ${how}: ${oneLine(errors || output, 300) || 'no output'}`)
      }
      return parseScanResult(output)
    },
  }
}

/** Runs a program until it exits or the signal aborts, and then kills all of its child processes. */
function run(
  program: string,
  args: readonly string[],
  { input, signal }: { input: string; signal: AbortSignal },
): Promise<Finished> {
  const { promise, resolve, reject } = Promise.withResolvers<Finished>()
  // A separate process group, so that child processes of the program can be killed.
  const child = spawn(program, args, { cwd: '/', env: ENVIRONMENT, detached: true, stdio: 'pipe' })
  const stop = (): void => killGroup(child)
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  const output = collect(child.stdout, stop)
  const errors = collect(child.stderr, () => {})
  child.on('error', (error) => reject(new ScannerFailure(`Could not start the scanner: ${error.message}`)))
  // Kills child processes that would keep the pipes open, for which `close` waits.
  child.on('exit', stop)
  child.on('close', (code, signalName) => resolve({ code, signal: signalName, output: output(), errors: errors() }))
  // A program can close its input without reading it.
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  return promise.finally(() => signal.removeEventListener('abort', stop))
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, 'SIGKILL')
  } catch {
    // The process has exited already.
  }
}

/** Collects output up to the limit. */
function collect(stream: NodeJS.ReadableStream, onTooMuch: () => void): () => string {
  const chunks: Buffer[] = []
  let bytes = 0
  stream.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes <= RESPONSE_BYTES_MAX) chunks.push(chunk)
    else onTooMuch()
  })
  return () => Buffer.concat(chunks).toString('utf8')
}
