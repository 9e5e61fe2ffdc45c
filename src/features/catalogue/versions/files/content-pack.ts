// Content packs are archives with an index of files. Checks the index, and lists the files for the version's dependencies.
import Type, { type Static } from 'typebox'
import { Compile } from 'typebox/compile'
import { type ApiError, invalidInput } from '#lib/errors.ts'
import { Maybe } from '#lib/schema/schema-parts.ts'
import type { Archive } from '#platform/archives/inspect-archive.ts'
import type { ContentPackRules } from '#taxonomy/file-rules.ts'
import { nameProblem } from './filename.ts'

const INDEX_BYTES_MAX = 4 * 1024 * 1024
const FILES_MAX = 4096
/** The same limits as for the dependencies of a version and their file names. */
const EMBEDDED_MAX = 4096
const FILE_NAME_LENGTH_MAX = 255

const Side = Type.Union([Type.Literal('required'), Type.Literal('optional'), Type.Literal('unsupported')])
const Text = Type.String({ minLength: 1, maxLength: 512 })

const PackFile = Type.Object({
  path: Type.String({ minLength: 1, maxLength: 1024 }),
  hashes: Type.Object({
    sha1: Type.String({ pattern: '^[0-9a-fA-F]{40}$', maxLength: 40 }),
    sha512: Type.String({ pattern: '^[0-9a-fA-F]{128}$', maxLength: 128 }),
  }),
  env: Maybe(Type.Object({ client: Type.Optional(Side), server: Type.Optional(Side) })),
  downloads: Type.Array(Type.String({ minLength: 1, maxLength: 2048 }), { minItems: 1, maxItems: 16 }),
  fileSize: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
})

const PackIndex = Type.Object({
  game: Text,
  formatVersion: Type.Integer({ minimum: 1, maximum: 1000 }),
  versionId: Text,
  name: Text,
  summary: Maybe(Type.String({ maxLength: 2048 })),
  files: Type.Array(PackFile, { maxItems: FILES_MAX }),
  dependencies: Type.Record(Type.String(), Text),
})

/** The checked index of a content pack. */
export type PackIndex = Static<typeof PackIndex>

/** An embedded file: an entry of the index, or an archive in an override folder. */
export type Embedded = {
  /** Lower-case hex; absent for an archive in an override folder. */
  sha1?: string
  /** Name of the dependency if no version contains a file with this hash. */
  fileName: string
}

export type PackOptions = {
  rules: ContentPackRules
  /** Origins of this instance (`https://files.example.org`), from which packs can also download. */
  ownOrigins: readonly string[]
  /** Name of the form part, for errors. */
  field: string
}

type ReadableArchive = Extract<Archive, { readable: true }>

const validator = Compile(PackIndex)

/** Returns undefined if the archive has no index. @throws ApiError `invalid_input` for an invalid index or pack. */
export async function readPackIndex(archive: ReadableArchive, options: PackOptions): Promise<PackIndex | undefined> {
  const { rules, field } = options
  const names = new Set(archive.entries.map(({ name }) => name))
  const indexName = rules.index_names.find((name) => names.has(name))
  const bytes = indexName && (await archive.readEntry(indexName, INDEX_BYTES_MAX))
  if (indexName === undefined || !bytes) return undefined
  const indexError = (reason: string) => invalidInput(`The pack's index ${indexName} ${reason}`, field)
  const index = parseJson(bytes, indexError)
  if (!validator.Check(index)) {
    const [problem] = validator.Errors(index)
    throw indexError(`is not valid: ${problem?.instancePath || '/'} ${problem?.message ?? ''}`)
  }
  if (!rules.games.includes(index.game)) throw indexError(`is for the unknown game ${JSON.stringify(index.game)}`)
  const unknown = Object.keys(index.dependencies).find((name) => !rules.dependencies.includes(name))
  if (unknown !== undefined) throw indexError(`has an unknown dependency ${JSON.stringify(unknown.slice(0, 100))}`)
  const problem = index.files.map((file) => fileProblem(file, options)).find((text) => text !== undefined)
  if (problem !== undefined) throw indexError(problem)
  if (index.files.length === 0 && !archive.entries.some(({ name }) => isOverride(rules, name)))
    throw indexError('lists no files, and the pack has no overrides')
  return index
}

function parseJson(bytes: Buffer, indexError: (reason: string) => ApiError): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    throw indexError('is not JSON')
  }
}

function fileProblem(file: PackIndex['files'][number], { rules, ownOrigins }: PackOptions): string | undefined {
  const shown = JSON.stringify(file.path.slice(0, 100))
  // Users unpack packs on every operating system, so each segment must be a valid name on all of them.
  if (file.path.split('/').some((segment) => nameProblem(segment) !== undefined)) return `has the unsafe path ${shown}`
  const forbidden = file.downloads.find((url) => !isAllowedDownload(url, rules.download_hosts, ownOrigins))
  if (forbidden === undefined) return undefined
  return `downloads ${shown} from a host that is not allowed: ${JSON.stringify(forbidden.slice(0, 200))}`
}

function isAllowedDownload(text: string, hosts: readonly string[], ownOrigins: readonly string[]): boolean {
  const url = URL.parse(text)
  if (url === null || url.username !== '' || url.password !== '') return false
  if (ownOrigins.includes(url.origin)) return true
  // `host` includes a non-default port: another port is another host. An entry with a scheme is an origin.
  return (url.protocol === 'https:' && hosts.includes(url.host)) || hosts.includes(url.origin)
}

/**
 * Returns the files of the index, then the archives in override folders, without duplicates.
 * @throws ApiError `invalid_input` for more files than a version can have dependencies.
 */
export function listEmbedded(archive: ReadableArchive, index: PackIndex, options: PackOptions): Embedded[] {
  const { rules, field } = options
  const listed: Embedded[] = index.files.map(({ path, hashes, downloads }) => ({
    sha1: hashes.sha1.toLowerCase(),
    fileName: nameOf(decoded(URL.parse(downloads[0] ?? '')?.pathname ?? '')) || nameOf(path),
  }))
  const overrides: Embedded[] = archive.entries
    .filter(({ name }) => isOverride(rules, name) && rules.embedded_extensions.includes(extensionOf(name)))
    .map(({ name }) => ({ fileName: nameOf(name) }))
  const all = new Map<string, Embedded>()
  for (const file of [...listed, ...overrides]) all.set(file.sha1 ?? `/${file.fileName}`, file)
  if (all.size > EMBEDDED_MAX) throw invalidInput(`The pack embeds more than ${EMBEDDED_MAX} files`, field)
  return [...all.values()]
}

function isOverride(rules: ContentPackRules, name: string): boolean {
  return rules.override_folders.some((folder) => name.startsWith(`${folder}/`))
}

function extensionOf(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1).toLowerCase()
}

/** Returns the last segment without control characters, truncated to the maximum length of a dependency's file name. */
function nameOf(path: string): string {
  const segment = path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1)
  return segment.replace(/\p{Cc}/gu, '').slice(0, FILE_NAME_LENGTH_MAX)
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}
