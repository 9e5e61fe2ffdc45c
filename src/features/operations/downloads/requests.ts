// What clients send to download, and what the operator's CDN reports of downloads.
import Type, { type Static } from 'typebox'
import { filterQuery } from '#features/catalogue/versions/lookup/list-requests.ts'
import { Id, Time } from '#lib/schema/schema-parts.ts'

/** What a client says about its download. Every value is accepted: a wrong hint must not prevent the download. */
const Hint = (description: string) => Type.Optional(Type.Unsafe<unknown>({ description }))

export const DownloadHints = Type.Object({
  reason: Hint('Reason of the download: standalone, dependency, modpack or update'),
  loader: Hint('Loader for which it is downloaded'),
  game_version: Hint('Game version for which it is downloaded'),
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
        'Whether the primary files of required dependencies are included, and of what these require. Each is of the ' +
        'version that the dependency names, else of the newest that fits `loaders` and `game_versions`',
    }),
  ),
  loaders: filterQuery.loaders,
  game_versions: filterQuery.game_versions,
}

export const VersionArchiveQuery = Type.Object({
  files: Type.Optional(
    Type.String({
      maxLength: 65_536,
      description: 'JSON array of names of files of the version; default: all',
      examples: ['["lantern.jar"]'],
    }),
  ),
  ...ArchiveQuery,
})

export const CollectionArchiveQuery = Type.Object(ArchiveQuery)

const Folder = Type.String({
  pattern: '^[0-9A-Za-z_-]{1,64}$',
  maxLength: 64,
  description: 'Folder, as in the address of the image',
})
const Picture = Type.String({
  pattern: '^[0-9a-f]{40}(_[0-9]{1,4})?\\.[a-z]{3,4}$',
  maxLength: 64,
  description: 'File name, derived from the hash of the content',
})

export const PictureParams = Type.Object({ folder: Folder, picture: Picture })

/** Reports in one call. */
const REPORTS_MAX = 1_000

export const ReportedDownload = Type.Object(
  {
    url: Type.String({ maxLength: 8192, description: 'Address or path of the file, including the query string' }),
    ip: Type.String({
      maxLength: 64,
      description: 'Address of the client; stored only as a hash whose key changes daily',
    }),
    at: Type.Optional(Time('RFC 3339, at most seven days ago; default now')),
    signed_in: Type.Optional(Type.Boolean({ description: 'Whether the client was signed in; default false' })),
    headers: Type.Optional(
      Type.Record(Type.String(), Type.String({ maxLength: 8192 }), {
        maxProperties: 100,
        description: "Headers of the client's request; `user-agent`, `referer` and the country header are used",
      }),
    ),
  },
  { title: 'ReportedDownload' },
)
export type ReportedDownload = Static<typeof ReportedDownload>

export const ReportedDownloads = Type.Object(
  { downloads: Type.Array(ReportedDownload, { maxItems: REPORTS_MAX }) },
  { title: 'ReportedDownloads' },
)

// The `Range` header (RFC 9110, 14.2), as far as file servers support it: one range of bytes.

export type ByteRange = { start: number; end: number }

/**
 * The range asked for, clipped to the file; undefined where the header is to be ignored (absent, another unit, several
 * ranges, malformed); `unsatisfiable` when it lies outside the file.
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

/**
 * Whether the answer is the whole file, given the range that was asked for and the one that is honoured: only that
 * counts as a download.
 */
export function isWholeFile(header: string | undefined, honoured: ByteRange | undefined): boolean {
  return honoured === undefined || /^bytes=0-$/.test(header?.trim() ?? '')
}
