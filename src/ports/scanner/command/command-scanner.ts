// A program as scanner: called once for each file, with the file's path as its last argument and what is known of the
// file as JSON on standard input; it prints its verdict and ends with 0.
import { type ChildProcess, spawn } from 'node:child_process'
import { tmpdir } from 'node:os'
import { dirname } from 'node:path'
import { describeFile, oneLine, RESPONSE_BYTES_MAX, readJudgement, type Scanner, ScannerFailure } from '../scanner.ts'

export type CommandScannerOptions = {
  /** The program, then its arguments; no shell reads them. */
  words: readonly string[]
  timeoutMs: number
}

type Finished = { code: number | null; signal: NodeJS.Signals | null; output: string; complaint: string }

/** Nothing of the server's own environment, where its secrets are; where programs usually are, and our own Node. */
const ENVIRONMENT = {
  PATH: `/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:${dirname(process.execPath)}`,
  LANG: 'C.UTF-8',
}

export function createCommandScanner({ words, timeoutMs }: CommandScannerOptions): Scanner {
  const [program = '', ...args] = words
  return {
    async judge(file, signal) {
      const limit = AbortSignal.timeout(timeoutMs)
      const finished = await run(program, [...args, file.path], {
        input: describeFile(file),
        signal: AbortSignal.any([signal, limit]),
      })
      if (limit.aborted) throw new ScannerFailure(`The scanner did not answer within ${timeoutMs} ms`)
      if (signal.aborted) throw new ScannerFailure('The scan was broken off')
      const { code, output, complaint } = finished
      if (code !== 0) {
        const how = code === null ? `was ended by ${finished.signal}` : `ended with ${code}`
        throw new ScannerFailure(`The scanner ${how}: ${oneLine(complaint || output, 300) || 'it printed nothing'}`)
      }
      return readJudgement(output)
    },
  }
}

/** Runs a program to its end, or until the signal; then it goes with everything it has started. */
function run(
  program: string,
  args: readonly string[],
  { input, signal }: { input: string; signal: AbortSignal },
): Promise<Finished> {
  const { promise, resolve, reject } = Promise.withResolvers<Finished>()
  // A process group of its own, so that none of the program's children outlives it.
  const child = spawn(program, args, { cwd: tmpdir(), env: ENVIRONMENT, detached: true, stdio: 'pipe' })
  const stop = (): void => killGroup(child)
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  const output = gather(child.stdout, stop)
  const complaint = gather(child.stderr, () => {})
  child.on('error', (error) => reject(new ScannerFailure(`The scanner could not be started: ${error.message}`)))
  // `close` waits for the pipes, which a child that was left behind may hold open: `exit` ends it too.
  child.on('exit', stop)
  child.on('close', (code, signalName) =>
    resolve({ code, signal: signalName, output: output(), complaint: complaint() }),
  )
  // A program that does not read its input closes the pipe.
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  return promise.finally(() => signal.removeEventListener('abort', stop))
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, 'SIGKILL')
  } catch {
    // It has ended already.
  }
}

/** Collects output up to the limit; one who says more is stopped. */
function gather(stream: NodeJS.ReadableStream, onTooMuch: () => void): () => string {
  const chunks: Buffer[] = []
  let bytes = 0
  stream.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes <= RESPONSE_BYTES_MAX) chunks.push(chunk)
    else onTooMuch()
  })
  return () => Buffer.concat(chunks).toString('utf8')
}
