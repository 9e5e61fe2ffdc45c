// Writes the log in pieces, so that a request does not wait for the reader of the log.
import { write, writeSync } from 'node:fs'
import type { DestinationStream } from 'pino'

/** Size from which text is written immediately. */
const PIECE_CHARS = 4096
const FLUSH_MS = 1000
/** Pause before a reader that is behind gets the rest, and the number of pauses at exit. */
const RETRY_MS = 100
const RETRIES_AT_EXIT = 20

export type LogDestination = DestinationStream & { flush(): void }

/**
 * Buffers lines for a file or a pipe. Writes them every second, when there are enough, and at exit. Once a write fails,
 * because the reader has ended or the disk is full, discards the text that could not be written, so that a process without
 * a log serves and ends like any other.
 */
export function bufferedDestination(fd: number): LogDestination {
  let waiting = ''
  let isWriting = false

  function send(piece: Buffer): void {
    isWriting = true
    write(fd, piece, (error, written) => {
      if (error?.code === 'EAGAIN') return void setTimeout(send, RETRY_MS, piece)
      if (error === null && written < piece.length) return send(piece.subarray(written))
      isWriting = false
      if (waiting.length >= PIECE_CHARS) flush()
    })
  }

  function flush(): void {
    if (isWriting || waiting === '') return
    const piece = Buffer.from(waiting)
    waiting = ''
    send(piece)
  }

  setInterval(flush, FLUSH_MS).unref()
  // Nothing runs after this event, so the rest is written synchronously.
  process.on('exit', () => writeRest(fd, Buffer.from(waiting)))
  return {
    write(line) {
      waiting += line
      if (waiting.length >= PIECE_CHARS) flush()
    },
    flush,
  }
}

function writeRest(fd: number, rest: Buffer): void {
  const pause = new Int32Array(new SharedArrayBuffer(4))
  for (let retries = 0; rest.length > 0 && retries <= RETRIES_AT_EXIT; ) {
    try {
      rest = rest.subarray(writeSync(fd, rest))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return
      retries += 1
      Atomics.wait(pause, 0, 0, RETRY_MS)
    }
  }
}
