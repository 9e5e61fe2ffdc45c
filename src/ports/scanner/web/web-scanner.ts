// Uses a web service as scanner: sends each file by POST, with its description in a header. The service returns 200 and a
// verdict.
import { openAsBlob } from 'node:fs'
import type { Secret } from '#lib/access/secret.ts'
import { describeFile, parseScanResult, RESPONSE_BYTES_MAX, type Scanner, ScannerFailure } from '../scanner.ts'

type Options = { url: string; token: Secret | undefined; timeoutMs: number }

export function createWebScanner({ url, token, timeoutMs }: Options): Scanner {
  return {
    async scan(file, signal) {
      const limit = AbortSignal.timeout(timeoutMs)
      try {
        const response = await fetch(url, {
          method: 'POST',
          // Streams from the disk, with a content length.
          body: await openAsBlob(file.path),
          headers: {
            'content-type': 'application/octet-stream',
            accept: 'application/json',
            'user-agent': 'depot-scan/1',
            // Header values are limited to Latin-1; file names are not.
            'x-file': encodeURIComponent(describeFile(file)),
            ...(token === undefined ? {} : { authorization: `Bearer ${token.reveal()}` }),
          },
          // A redirect could lead to a server that the operator did not choose.
          redirect: 'error',
          signal: AbortSignal.any([signal, limit]),
        })
        const text = await readText(response)
        if (response.status !== 200) throw new ScannerFailure(`The scanner returned status ${response.status}`)
        return parseScanResult(text)
      } catch (error) {
        if (limit.aborted) throw new ScannerFailure(`The scanner did not respond within ${timeoutMs} ms`)
        if (error instanceof ScannerFailure) throw error
        throw new ScannerFailure(`Could not reach the scanner: ${reasonOf(error)}`, { cause: error })
      }
    },
  }
}

async function readText({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body ?? []) {
    bytes += chunk.length
    if (bytes > RESPONSE_BYTES_MAX)
      throw new ScannerFailure(`The response of the scanner is larger than ${RESPONSE_BYTES_MAX} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** The error of `fetch` has the reason in its cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? error.cause.message : error.message
}
