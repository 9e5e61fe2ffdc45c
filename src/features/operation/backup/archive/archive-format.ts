// The format of a backup (see docs/operators/operating.md): a tar file whose members are, in this order, the head, rows, jobs,
// files, events, the manifest and the end.
import { type Static, Type } from 'typebox'
import { Value } from 'typebox/value'
import { OperatorError } from '#lib/operator-error.ts'

export const FORMAT = 1

/** Size of a block of a tar file. */
export const BLOCK = 512

export const HEAD = 'depot-backup.json'
export const MANIFEST = 'manifest.jsonl'
export const END = 'end.json'

const Names = Type.Array(Type.String())

/** ID and time from the head of another backup. */
const ArchiveName = Type.Object({ id: Type.String(), created: Type.String() })

const Head = Type.Object({
  format: Type.Integer(),
  ...ArchiveName.properties,
  /** The copy of the instance that created the backup. Backups of 1.0 have none. */
  writer: Type.Optional(Type.String()),
  /** Version of Depot that created the backup. */
  version: Type.String(),
  /** Migrations of the schema, oldest first. They identify the schema of the rows. */
  migrations: Type.Array(Type.Object({ name: Type.String(), checksum: Type.String() })),
  postgres: Type.String(),
  /** Tables with their columns, each after the tables to which it refers. Backups of 1.0 have no numbers of rows. */
  tables: Type.Array(Type.Object({ name: Type.String(), columns: Names, rows: Type.Optional(Type.Integer()) })),
  /** The next value of each sequence. */
  sequences: Type.Array(Type.Object({ name: Type.String(), next: Type.String() })),
  /** Columns of each kind of event. */
  events: Type.Record(Type.String(), Names),
  /** Backups that contain the remaining files of this incremental backup, oldest first. */
  since: Type.Array(ArchiveName),
})
export type Head = Static<typeof Head>

const End = Type.Object({ id: Type.String(), manifestBytes: Type.Integer(), manifestSha256: Type.String() })
export type End = Static<typeof End>

/** Line of the manifest. `in`: ID of the earlier backup that contains the member. */
export type ManifestEntry = PresentEntry | { name: string; absent: true }
export type PresentEntry = { name: string; size: number; sha256: string; in?: string }

/** Error for an unusable backup. The message gives the reason. */
export class ArchiveError extends OperatorError {
  override name = 'ArchiveError'
}

export const USE_ANOTHER = 'Check how it was stored and copied, and use another backup.'

export const damaged = (reason: string, cause?: unknown): ArchiveError =>
  new ArchiveError(`The backup is damaged: ${reason}. Nothing was restored. ${USE_ANOTHER}`, { cause })

export const truncated = (cause?: unknown): ArchiveError =>
  new ArchiveError(`The backup is truncated: its end is missing. Nothing was restored. ${USE_ANOTHER}`, { cause })

/** Returns an ArchiveError for any error while reading. A system error is not reported as damage. */
export function unreadable(cause: unknown): unknown {
  if (cause instanceof ArchiveError) return cause
  const message = cause instanceof Error ? cause.message : String(cause)
  if (cause instanceof Error && 'syscall' in cause)
    return new ArchiveError(`The backup cannot be read: ${message}`, { cause })
  return damaged(message.charAt(0).toLowerCase() + message.slice(1), cause)
}

/** @throws ArchiveError if the head is invalid or from a newer version of Depot. */
export function parseHead(bytes: Buffer): Head {
  const value = parse(bytes, 'its head cannot be read')
  const format = typeof value === 'object' && value !== null && 'format' in value ? value.format : undefined
  if (typeof format === 'number' && format > FORMAT)
    throw new ArchiveError(`The backup has format ${format} of a newer version of Depot. Restore it with that version.`)
  if (!Value.Check(Head, value)) throw damaged('its head is invalid')
  return value
}

/** @throws ArchiveError */
export function parseEnd(bytes: Buffer): End {
  const value = parse(bytes, 'its end cannot be read')
  if (!Value.Check(End, value)) throw damaged('its end is invalid')
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

/** Returns the name of a part, such as `rows/account/000001.copy.gz`. Parts start at 1. */
export const partMember = (folder: string, part: number, ending: string): string =>
  `${folder}/${String(part).padStart(6, '0')}.${ending}`
