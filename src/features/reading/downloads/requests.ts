// Schemas of downloads, and the parser of the `Range` header.
import Type, { type Static } from 'typebox'
import { filterQuery } from '#features/catalogue/versions/lookup/list-requests.ts'
import { Id, NamedObject, Time } from '#lib/schema/schema-parts.ts'

/** A detail about the download. Every value is accepted, because an invalid hint must not prevent the download. */
const Hint = (description: string) => Type.Optional(Type.Unsafe<unknown>({ description }))

export const DownloadHints = Type.Object({
  reason: Hint('Reason of the download: standalone, dependency, modpack or update'),
  loader: Hint('Loader that the client uses'),
  game_version: Hint('Game version that the client uses'),
})

export const FileParams = Type.Object({
  project_id: Id('ID of the project'),
  version_id: Id('ID of the version'),
  filename: Type.String({ maxLength: 1024, description: 'Name of the file' }),
})

const ArchiveQuery = {
  dependencies: Type.Optional(
    Type.Boolean({
      default: false,
      description:
        'Whether to include the primary files of required dependencies, recursively. Uses the version that the ' +
        'dependency specifies, otherwise the newest version that matches `loaders` and `game_versions`',
    }),
  ),
  loaders: filterQuery.loaders,
  game_versions: filterQuery.game_versions,
}

export const VersionArchiveQuery = Type.Object({
  files: Type.Optional(
    Type.String({
      maxLength: 65_536,
      description: 'JSON array of file names of the version. Default: all files',
      examples: ['["lantern.jar"]'],
    }),
  ),
  ...ArchiveQuery,
})

export const CollectionArchiveQuery = Type.Object(ArchiveQuery)

const Folder = Type.String({
  pattern: '^[0-9A-Za-z_-]{1,64}$',
  maxLength: 64,
  description: 'Folder in the URL of the image',
})
const Picture = Type.String({
  pattern: '^[0-9a-f]{40}(_[0-9]{1,4})?\\.[a-z]{3,4}$',
  maxLength: 64,
  description: 'File name, derived from the hash of the content',
})

export const PictureParams = Type.Object({ folder: Folder, picture: Picture })

/** Maximum number of reports per request. */
const REPORTS_MAX = 1_000

export const ReportedDownload = NamedObject('ReportedDownload', {
  url: Type.String({ maxLength: 8192, description: 'URL or path of the file, including the query string' }),
  ip: Type.String({
    maxLength: 64,
    description: 'IP address of the client. Stored only as a hash whose key changes daily',
  }),
  at: Type.Optional(Time('Time of the download (RFC 3339), at most 7 days ago. Default: now')),
  signed_in: Type.Optional(Type.Boolean({ description: 'Whether the client was signed in. Default: false' })),
  headers: Type.Optional(
    Type.Record(Type.String(), Type.String({ maxLength: 8192 }), {
      maxProperties: 100,
      description: 'Headers of the request. Depot uses `user-agent`, `referer` and the country header',
    }),
  ),
})
export type ReportedDownload = Static<typeof ReportedDownload>

export const ReportedDownloads = NamedObject('ReportedDownloads', {
  downloads: Type.Array(ReportedDownload, { maxItems: REPORTS_MAX }),
})

export const CountedDownloads = NamedObject('CountedDownloads', {
  counted: Type.Integer({ description: 'Number of counted reports' }),
  capped: Type.Integer({ description: 'Number of reports over the limit per IP address and project. Not counted' }),
  unknown: Type.Integer({ description: 'Number of reports of files that do not exist. Not counted' }),
})
export type CountedDownloads = Static<typeof CountedDownloads>

export type ByteRange = { start: number; end: number }

/**
 * Parses a `Range` header (RFC 9110, 14.2) with one byte range, and clips the range to the file. Returns undefined if
 * the header must be ignored (absent, malformed, other unit, several ranges), `unsatisfiable` if it is outside the file.
 */
export function parseRange(header: string | undefined, sizeBytes: number): ByteRange | 'unsatisfiable' | undefined {
  if (header === undefined) return undefined
  const match = /^bytes=(?:(\d{1,15})-(\d{0,15})|-(\d{1,15}))$/.exec(header.trim())
  if (match === null) return undefined
  const [, first, last, suffix] = match
  if (suffix !== undefined) {
    const length = Number(suffix)
    if (length === 0 || sizeBytes === 0) return 'unsatisfiable'
    return { start: Math.max(0, sizeBytes - length), end: sizeBytes - 1 }
  }
  const start = Number(first)
  const end = last === undefined || last === '' ? sizeBytes - 1 : Math.min(Number(last), sizeBytes - 1)
  if (last !== undefined && last !== '' && Number(last) < start) return undefined
  return start >= sizeBytes ? 'unsatisfiable' : { start, end }
}

/** Returns whether the response contains the whole file. Only such a response counts as a download. */
export function isWholeFile(header: string | undefined, honoured: ByteRange | undefined): boolean {
  return honoured === undefined || /^bytes=0-$/.test(header?.trim() ?? '')
}
