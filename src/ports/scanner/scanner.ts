// The port for whoever judges uploaded files before they are shown: an operator's program or web service. It answers
// with one JSON object, `{"verdict": "pass" | "warn" | "quarantine", "reason": text}`; docs/engines/scanner.md is written for
// those who make one.
import Type, { type Static } from 'typebox'
import { Compile } from 'typebox/compile'

export const VERDICTS = ['pass', 'warn', 'quarantine'] as const
export type Verdict = (typeof VERDICTS)[number]

/** `reason` is for people: at most 500 characters on one line; null where the scanner gives none. */
export type Judgement = { verdict: Verdict; reason: string | null }

/** What a scanner is told of a file; its bytes lie at `path`, on the local disk. */
export type JudgedFile = {
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
  /**
   * The verdict on one file.
   * @throws ScannerFailure when there is none: the scanner fails, takes too long, or says what is no verdict. Asking
   * again later may help.
   */
  judge(file: JudgedFile, signal: AbortSignal): Promise<Judgement>
}

/** No verdict. The message is for operators and moderators, not for publishers. */
export class ScannerFailure extends Error {
  override name = 'ScannerFailure'
}

/** What a scanner may say at most; the rest of a program's output would be no verdict either. */
export const RESPONSE_BYTES_MAX = 65_536
const REASON_LENGTH_MAX = 500

const Answer = Type.Object({
  verdict: Type.Enum([...VERDICTS]),
  reason: Type.Optional(Type.Union([Type.String(), Type.Null()])),
})
const validator = Compile(Answer)

/** Reads a scanner's answer. @throws ScannerFailure when it is no verdict. */
export function readJudgement(text: string): Judgement {
  let answer: unknown
  try {
    answer = JSON.parse(text)
  } catch {
    throw new ScannerFailure(`The scanner's answer is not JSON: ${oneLine(text, 100)}`)
  }
  if (!validator.Check(answer)) throw new ScannerFailure(`The scanner's answer is no verdict: ${oneLine(text, 100)}`)
  const { verdict, reason }: Static<typeof Answer> = answer
  return { verdict, reason: oneLine(reason ?? '', REASON_LENGTH_MAX) || null }
}

/** Text of somebody else's program, fit to be stored and shown: no control characters, no broken surrogates. */
export function oneLine(text: string, lengthMax: number): string {
  const line = text
    .toWellFormed()
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
  const characters = [...line.slice(0, 2 * lengthMax + 2)]
  return characters.length <= lengthMax ? characters.join('') : `${characters.slice(0, lengthMax - 1).join('')}…`
}

/** What both kinds of scanner are told beside the bytes, as JSON. */
export function describeFile({ path: _, ...file }: JudgedFile): string {
  const { filename, sizeBytes: size, sha1, sha512, fileId: file_id, versionId: version_id, projectId } = file
  return JSON.stringify({ filename, size, sha1, sha512, file_id, version_id, project_id: projectId })
}
