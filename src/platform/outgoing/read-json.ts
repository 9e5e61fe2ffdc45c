// Requests to services that the operator has configured: bounded in time and size, without redirects.

const TIMEOUT_MS = 5_000
const BYTES_MAX = 256 * 1024

/**
 * Returns the JSON document at a URL. The time limit includes the body, so a slow service cannot hold a request.
 * @throws Error if the service does not respond in 5 seconds with status 200 and at most 256 KiB of JSON.
 */
export async function readJsonWithin(url: string): Promise<unknown> {
  const response = await fetch(url, {
    headers: { accept: 'application/json', 'user-agent': 'Depot' },
    redirect: 'error',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  })
  if (response.status !== 200 || response.body === null) {
    await response.body?.cancel()
    throw new Error(`The response has the status ${response.status}`)
  }
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of response.body) {
    size += piece.length
    if (size > BYTES_MAX) throw new Error(`The response is larger than ${BYTES_MAX} bytes`)
    pieces.push(piece)
  }
  return JSON.parse(Buffer.concat(pieces, size).toString('utf8'))
}
