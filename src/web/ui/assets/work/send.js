// Sends a file in parts by tus 1.0.0, so that a lost connection, a pause or a reload costs no byte that the server has stored.
const PART_BYTES = 16 * 1024 * 1024
/** A smaller file is sent with the request that creates its upload. */
const WHOLE_BYTES = 1024 * 1024
const WAIT_SECONDS_MAX = 30
const BODY = { 'content-type': 'application/offset+octet-stream' }

/** Identifies a file that is chosen again. The server returns it with the uploads of the draft. */
export const keyOf = ({ name, size, lastModified }) => `${size}/${lastModified}/${name}`

const base64 = (text) => btoa(String.fromCharCode(...new TextEncoder().encode(text)))

/** Returns the request when it has ended. Its status is 0 after a lost connection, and after `signal`. */
const call = (method, url, { headers, body, signal, onprogress } = {}) =>
  new Promise((resolve) => {
    const request = new XMLHttpRequest()
    const stop = () => request.abort()
    request.onloadend = () => {
      signal?.removeEventListener('abort', stop)
      resolve(request)
    }
    request.upload.onprogress = onprogress ?? null
    request.open(method, url)
    for (const [name, value] of Object.entries({ 'tus-resumable': '1.0.0', ...headers }))
      request.setRequestHeader(name, value)
    signal?.addEventListener('abort', stop)
    if (signal?.aborted) stop()
    request.send(body)
  })

/** Waits, or until the browser is connected again, or until `signal`. */
export const pause = (seconds, signal) =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, 1000 * seconds)
    const end = () => {
      clearTimeout(timer)
      resolve()
    }
    addEventListener('online', end, { once: true })
    signal.addEventListener('abort', end, { once: true })
  })

const create = ({ file, signal, onSent }, url) => {
  const metadata = `filename ${base64(file.name)},modified ${base64(String(file.lastModified))}`
  const headers = { 'upload-length': file.size, 'upload-metadata': metadata }
  if (file.size > WHOLE_BYTES) return call('POST', url, { headers, signal })
  const onprogress = ({ loaded }) => onSent(loaded)
  return call('POST', url, { headers: { ...headers, ...BODY }, body: file, signal, onprogress })
}

const append = ({ file, url, offset, signal, onSent }) => {
  const body = file.slice(offset, offset + PART_BYTES)
  const onprogress = ({ loaded }) => onSent(offset + loaded)
  return call('PATCH', url, { headers: { ...BODY, 'upload-offset': offset }, body, signal, onprogress })
}

const offsetOf = (answer) => Number(answer.getResponseHeader('upload-offset'))

/**
 * Sends the rest of `of.file`, and repeats what the connection has cut. `of.url` and `of.offset` are the upload, once it
 * exists. Throws the response that ends the upload, the reason of `of.signal`, or the error of a file that cannot be read.
 * @param onCreated called with the upload before its content is sent.
 * @param onWait called with the response that was not successful, before it is repeated.
 */
export const sendFile = async (of, { url, onCreated, onWait }) => {
  for (let tries = 0; of.offset === undefined || of.offset < of.file.size || of.url === undefined; ) {
    of.signal.throwIfAborted()
    const isNew = of.url === undefined
    const isKnown = of.offset !== undefined
    const answer = await (isNew ? create(of, url) : isKnown ? append(of) : call('HEAD', of.url, { signal: of.signal }))
    of.signal.throwIfAborted()
    const { status } = answer
    if (status >= 200 && status < 300) {
      if (isNew) of.url = answer.getResponseHeader('location')
      of.offset = offsetOf(answer)
      of.onSent(of.offset)
      if (isNew && of.offset < of.file.size) await onCreated()
      if (isNew || isKnown) tries = 0
      continue
    }
    if (status !== 0 && status !== 409 && status !== 429 && status < 500) throw answer
    // A file that was changed or deleted looks like a lost connection.
    if (status === 0) await of.file.slice(0, 1).arrayBuffer()
    of.offset = undefined
    onWait(answer)
    tries += 1
    const wait = Number(answer.getResponseHeader('retry-after')) || Math.min(2 ** (tries - 1), WAIT_SECONDS_MAX)
    await pause(wait, of.signal)
  }
}

/** Deletes an upload, again while a request that was cut is still stored. */
export const deleteFile = async (url) => {
  for (let tries = 0; tries < 15; tries += 1) {
    const { status } = await call('DELETE', url)
    if (status !== 409 && status !== 0) return
    await new Promise((resolve) => setTimeout(resolve, 1000))
  }
}
