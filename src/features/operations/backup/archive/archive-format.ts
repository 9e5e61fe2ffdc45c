// What an archive of `depot backup` is made of (docs/operating.md has it for people): a tar file whose members come in
// this order: the head, rows, jobs, files, events, the manifest, the end.
import { type Static, Type } from 'typebox'
import { Value } from 'typebox/value'
import { OperatorError } from '#lib/operator-error.ts'

export const FORMAT = 1

export const HEAD = 'depot-backup.json'
export const MANIFEST = 'manifest.jsonl'
export const END = 'end.json'

const Names = Type.Array(Type.String())

/** Another archive, by the ID and the time in its head. */
const ArchiveName = Type.Object({ id: Type.String(), created: Type.String() })

const Head = Type.Object({
  format: Type.Integer(),
  ...ArchiveName.properties,
  /** Of the Depot that made it. */
  version: Type.String(),
  /** Migrations of the schema that the rows have, oldest first: the fingerprint of the schema. */
  migrations: Type.Array(Type.Object({ name: Type.String(), checksum: Type.String() })),
  postgres: Type.String(),
  /** Where addresses of pictures point: another instance puts its own there. */
  filesBaseUrl: Type.String(),
  /** Tables with the columns of their rows, each after those that it refers to. */
  tables: Type.Array(Type.Object({ name: Type.String(), columns: Names })),
  /** The next value of each sequence. */
  sequences: Type.Array(Type.Object({ name: Type.String(), next: Type.String() })),
  /** Columns of each kind of event. */
  events: Type.Record(Type.String(), Names),
  /** The archives that hold the files which are not in this one, oldest first. */
  since: Type.Array(ArchiveName),
})
export type Head = Static<typeof Head>

const End = Type.Object({ id: Type.String(), manifestBytes: Type.Integer(), manifestSha256: Type.String() })
export type End = Static<typeof End>

/** A line of the manifest. `in`: the archive that has the member, where it is another. */
export type ManifestEntry = { name: string; size: number; sha256: string; in?: string } | { name: string; absent: true }

/** The archive cannot be used; the sentence says why. */
export class ArchiveError extends OperatorError {
  override name = 'ArchiveError'
}

export const damaged = (what: string, cause?: unknown): ArchiveError =>
  new ArchiveError(`The archive is damaged: ${what}; nothing of it was restored`, { cause })

export const cutOff = (cause?: unknown): ArchiveError =>
  new ArchiveError('The archive is cut off: its end is missing; nothing of it was restored', { cause })

/** Errors of the source keep what they say; everything else is the archive's. */
export function unreadable(cause: unknown): unknown {
  if (cause instanceof ArchiveError) return cause
  const message = cause instanceof Error ? cause.message : String(cause)
  if (cause instanceof Error && 'syscall' in cause) {
    return new ArchiveError(`The archive cannot be read: ${message}`, { cause })
  }
  return damaged(message.charAt(0).toLowerCase() + message.slice(1), cause)
}

/** @throws ArchiveError when it is no head, or one of a newer version of Depot. */
export function parseHead(bytes: Buffer): Head {
  const value = parse(bytes, 'its head cannot be read')
  const format = typeof value === 'object' && value !== null && 'format' in value ? value.format : undefined
  if (typeof format === 'number' && format > FORMAT) {
    throw new ArchiveError(
      `The archive has format ${format}, which a newer version of Depot has made; restore it by that`,
    )
  }
  if (!Value.Check(Head, value)) throw damaged('its head is not what Depot writes')
  return value
}

/** @throws ArchiveError */
export function parseEnd(bytes: Buffer): End {
  const value = parse(bytes, 'its end cannot be read')
  if (!Value.Check(End, value)) throw damaged('its end is not what Depot writes')
  return value
}

function parse(bytes: Buffer, problem: string): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch (cause) {
    throw damaged(problem, cause)
  }
}

export const fileMember = (key: string): string => `files/${key}`

/** `rows/account/000001.copy.gz` and the like, counted from 1. */
export const partMember = (folder: string, part: number, ending: string): string =>
  `${folder}/${String(part).padStart(6, '0')}.${ending}`
