// A stream from the store with a time limit.
import { Readable } from 'node:stream'

/** Wraps `source`. Fails if a reader waits for `stallMs` without data. A slow reader has no time limit. */
export function guardStream(source: Readable, stallMs: number): Readable {
  let timer: NodeJS.Timeout | undefined
  const stopTimer = () => {
    clearTimeout(timer)
    timer = undefined
  }
  const stream = new Readable({
    read() {
      source.resume()
      timer ??= setTimeout(() => stream.destroy(new Error(`The file store sent nothing for ${stallMs} ms`)), stallMs)
    },
    destroy(error, done) {
      stopTimer()
      source.destroy()
      done(error)
    },
  })
  source.on('data', (piece) => {
    if (stream.push(piece)) {
      timer?.refresh()
    } else {
      source.pause()
      stopTimer()
    }
  })
  source.on('end', () => {
    stopTimer()
    stream.push(null)
  })
  source.on('error', (error) => stream.destroy(error))
  source.on('close', () => {
    if (!source.readableEnded && !stream.destroyed)
      stream.destroy(new Error('The file store closed the connection before the end of the file'))
  })
  source.pause()
  return stream
}
