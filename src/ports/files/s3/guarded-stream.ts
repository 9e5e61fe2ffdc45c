// A stream from the store that does not wait for ever.
import { Readable } from 'node:stream'

/**
 * The bytes of `source`. It fails when a reader wants bytes and none have come for `stallMs`; a reader that takes its time
 * is waited for.
 */
export function guardStream(source: Readable, stallMs: number): Readable {
  let timer: NodeJS.Timeout | undefined
  const rest = () => {
    clearTimeout(timer)
    timer = undefined
  }
  const stream = new Readable({
    read() {
      source.resume()
      timer ??= setTimeout(() => stream.destroy(new Error(`The file store sent nothing for ${stallMs} ms`)), stallMs)
    },
    destroy(error, done) {
      rest()
      source.destroy()
      done(error)
    },
  })
  source.on('data', (piece) => {
    if (stream.push(piece)) {
      timer?.refresh()
    } else {
      source.pause()
      rest()
    }
  })
  source.on('end', () => {
    rest()
    stream.push(null)
  })
  source.on('error', (error) => stream.destroy(error))
  source.on('close', () => {
    if (!source.readableEnded && !stream.destroyed) stream.destroy(new Error('The file store broke off'))
  })
  source.pause()
  return stream
}
