// A web service as scanner: each file is posted to it, with what is known of the file in a header; it answers 200 with
// its verdict.
import { openAsBlob } from 'node:fs'
import type { Secret } from '#lib/access/secret.ts'
import { describeFile, RESPONSE_BYTES_MAX, readJudgement, type Scanner, ScannerFailure } from '../scanner.ts'

export type WebScannerOptions = { url: string; token: Secret | undefined; timeoutMs: number }

export function createWebScanner({ url, token, timeoutMs }: WebScannerOptions): Scanner {
  return {
    async judge(file, signal) {
      const limit = AbortSignal.timeout(timeoutMs)
      try {
        const response = await fetch(url, {
          method: 'POST',
          // Streams from the disk, and its length is known.
          body: await openAsBlob(file.path),
          headers: {
            'content-type': 'application/octet-stream',
            accept: 'application/json',
            'user-agent': 'depot-scan/1',
            // Header values are Latin letters; file names are not.
            'x-file': encodeURIComponent(describeFile(file)),
            ...(token === undefined ? {} : { authorization: `Bearer ${token.reveal()}` }),
          },
          // The operator chose this address; a redirect could lead to one that they did not choose.
          redirect: 'error',
          signal: AbortSignal.any([signal, limit]),
        })
        const text = await readText(response)
        if (response.status !== 200) throw new ScannerFailure(`The scanner answered with status ${response.status}`)
        return readJudgement(text)
      } catch (error) {
        if (limit.aborted) throw new ScannerFailure(`The scanner did not answer within ${timeoutMs} ms`)
        if (error instanceof ScannerFailure) throw error
        throw new ScannerFailure(`The scanner could not be asked: ${reasonOf(error)}`, { cause: error })
      }
    },
  }
}

async function readText({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body ?? []) {
    bytes += chunk.length
    if (bytes > RESPONSE_BYTES_MAX) throw new ScannerFailure(`The scanner's answer is over ${RESPONSE_BYTES_MAX} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** `fetch` says only that it failed; the cause says why. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? error.cause.message : error.message
}
