// The scanner port: a program or web service of the operator that scans uploaded files before they are published. It
// returns a JSON object, `{"verdict": "pass" | "warn" | "quarantine", "reason": text}` (docs/operators/engines/scanner.md).
import Type, { type Static } from 'typebox'
import { Compile } from 'typebox/compile'

export const VERDICTS = ['pass', 'warn', 'quarantine'] as const
export type Verdict = (typeof VERDICTS)[number]

/** `reason` is shown to users: one line of at most 500 characters; null if the scanner returned no reason. */
export type ScanResult = { verdict: Verdict; reason: string | null }

/** A file to scan; its content is at the local `path`. */
export type ScannedFile = {
  path: string
  filename: string
  sizeBytes: number
  sha1: string
  sha512: string
  fileId: string
  versionId: string
  projectId: string
}

export interface Scanner {
  /** @throws ScannerFailure if the scanner fails, is too slow or returns an invalid response. A retry could succeed. */
  scan(file: ScannedFile, signal: AbortSignal): Promise<ScanResult>
}

/** A scan without a verdict. The message is for operators and moderators, not for publishers. */
export class ScannerFailure extends Error {
  override name = 'ScannerFailure'
}

/** Maximum size of a response. */
export const RESPONSE_BYTES_MAX = 65_536
const REASON_LENGTH_MAX = 500

const Response = Type.Object({
  verdict: Type.Enum([...VERDICTS]),
  reason: Type.Optional(Type.Union([Type.String(), Type.Null()])),
})
const validator = Compile(Response)

/** Parses the response of a scanner. @throws ScannerFailure if it is invalid. */
export function parseScanResult(text: string): ScanResult {
  let response: unknown
  try {
    response = JSON.parse(text)
  } catch {
    throw new ScannerFailure(`The response of the scanner is not JSON: ${oneLine(text, 100)}`)
  }
  if (!validator.Check(response))
    throw new ScannerFailure(`The response of the scanner is not a verdict: ${oneLine(text, 100)}`)
  const { verdict, reason }: Static<typeof Response> = response
  return { verdict, reason: oneLine(reason ?? '', REASON_LENGTH_MAX) || null }
}

/** Makes text of another program safe to store and show: without control characters and broken surrogates. */
export function oneLine(text: string, lengthMax: number): string {
  const line = text
    .toWellFormed()
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
  const characters = [...line.slice(0, 2 * lengthMax + 2)]
  return characters.length <= lengthMax ? characters.join('') : `${characters.slice(0, lengthMax - 1).join('')}…`
}

/** Returns the description of a file that both kinds of scanner receive as JSON. */
export function describeFile({ path: _, ...file }: ScannedFile): string {
  const { filename, sizeBytes: size, sha1, sha512, fileId: file_id, versionId: version_id, projectId } = file
  return JSON.stringify({ filename, size, sha1, sha512, file_id, version_id, project_id: projectId })
}
