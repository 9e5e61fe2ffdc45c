// Reads the folder of a packwiz pack, and writes it as an .mrpack. Names and paths can come from anywhere.
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { lstat, readFile } from 'node:fs/promises'
import { posix } from 'node:path'
import { PassThrough, type Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { sql } from 'kysely'
import { parse } from 'smol-toml'
import Type, { type Static } from 'typebox'
import { Compile } from 'typebox/compile'
import { ZipFile } from 'yazl'
import { nameProblem } from '#features/catalogue/versions/files/filename.ts'
import { versionVisibleTo } from '#features/catalogue/versions/policy.ts'
import { filePath } from '#features/catalogue/versions/views.ts'
import { pathIn } from '#features/exchange/project-folder/read-folder.ts'
import { OperatorError } from '#lib/operator-error.ts'
import { withoutMark } from '#lib/text/byte-order-mark.ts'
import type { Deps } from '#ports/deps.ts'
import type { StagedFile } from '#ports/files/files.ts'
import { type PackHash, stagePack } from './stage-pack.ts'

export const PACK_FILE = 'pack.toml'

const TOML_BYTES_MAX = 4 * 1024 * 1024
const FILES_MAX = 4096
/** Formats of hashes that files can be checked with. Packwiz has others for files of other services. */
const HASH_FORMATS = ['sha1', 'sha256', 'sha512', 'md5']
/** The earliest time that an archive can contain, so that the same pack has the same bytes. */
const EARLIEST = new Date(1980, 0, 1)
const MODE = 0o100644

const Text = (maxLength: number) => Type.String({ minLength: 1, maxLength })
const Hash = Type.Optional(Type.String({ maxLength: 128 }))

const Pack = Type.Object({
  name: Text(512),
  version: Type.Optional(Type.String({ maxLength: 512 })),
  description: Type.Optional(Type.String({ maxLength: 2048 })),
  index: Type.Object({ file: Text(1024), 'hash-format': Hash, hash: Hash }),
  versions: Type.Record(Type.String(), Type.String({ maxLength: 512 })),
})
const Index = Type.Object({
  'hash-format': Hash,
  files: Type.Optional(
    Type.Array(
      Type.Object({ file: Text(1024), hash: Hash, 'hash-format': Hash, metafile: Type.Optional(Type.Boolean()) }),
      { maxItems: FILES_MAX },
    ),
  ),
})
const Metafile = Type.Object({
  filename: Text(255),
  side: Type.Optional(Type.Enum(['both', 'client', 'server', ''])),
  download: Type.Object({ 'hash-format': Text(16), hash: Text(128) }),
  option: Type.Optional(Type.Object({ optional: Type.Optional(Type.Boolean()) })),
})

const isPack = Compile(Pack)
const isIndex = Compile(Index)
const isMetafile = Compile(Metafile)

export type Packwiz = {
  name: string
  version: string | undefined
  summary: string | undefined
  versions: Readonly<Record<string, string>>
  /** Files to download: their place in the pack and the hash that identifies them. */
  files: { path: string; metafile: string; download: PackHash; env: { client: string; server: string } }[]
  /** Paths of files that the pack itself contains. */
  overrides: string[]
}

/** Reads the descriptions, and checks their hashes. @throws OperatorError naming the file. */
export async function readPackwiz(folder: string): Promise<Packwiz> {
  const pack = await readToml(folder, PACK_FILE, isPack)
  const indexPath = checkPath(pack.index.file, PACK_FILE)
  const index = await readToml(folder, indexPath, isIndex, { format: pack.index['hash-format'], hash: pack.index.hash })
  const packwiz: Packwiz = {
    name: pack.name,
    version: pack.version || undefined,
    summary: pack.description || undefined,
    versions: pack.versions,
    files: [],
    overrides: [],
  }
  const root = posix.dirname(indexPath)
  for (const { file, hash, 'hash-format': format = index['hash-format'], metafile } of index.files ?? []) {
    const path = posix.join(root, checkPath(file, indexPath))
    if (metafile !== true) {
      await checkHash(await pathIn(folder, path), path, { format, hash })
      packwiz.overrides.push(path)
      continue
    }
    const { filename, side, download, option } = await readToml(folder, path, isMetafile, { format, hash })
    const problem = nameProblem(filename)
    if (problem !== undefined)
      throw new OperatorError(`${path}: the filename ${JSON.stringify(filename)} ${problem}. Correct it.`)
    const runs = option?.optional === true ? 'optional' : 'required'
    packwiz.files.push({
      path: posix.join(posix.dirname(path), filename),
      metafile: path,
      download: hashOf(download, path),
      env: { client: side === 'server' ? 'unsupported' : runs, server: side === 'client' ? 'unsupported' : runs },
    })
  }
  return packwiz
}

function hashOf({ hash, 'hash-format': format }: Static<typeof Metafile>['download'], path: string): PackHash {
  const lengths = { sha1: 40, sha512: 128 }
  if (format !== 'sha1' && format !== 'sha512')
    throw new OperatorError(
      `${path}: download.hash-format must be sha1 or sha512, not ${JSON.stringify(format)}, because files are found by these hashes. Change the file.`,
    )
  if (hash.length !== lengths[format] || !/^[0-9a-f]+$/i.test(hash))
    throw new OperatorError(`${path}: download.hash is not a hash of the format ${format}. Correct it.`)
  return { algorithm: format, hash: hash.toLowerCase() }
}

/** @throws OperatorError for a path that is not safe on every operating system. */
function checkPath(path: string, place: string): string {
  if (path.split('/').every((segment) => nameProblem(segment) === undefined)) return path
  throw new OperatorError(`${place}: the path ${JSON.stringify(path.slice(0, 200))} is not safe. Correct it.`)
}

type Expected = { format: string | undefined; hash: string | undefined }
type Checker<T> = {
  Check(value: unknown): value is T
  Errors(value: unknown): Iterable<{ instancePath: string; message: string }>
}

async function readToml<T>(folder: string, path: string, checker: Checker<T>, expected?: Expected): Promise<T> {
  const file = await pathIn(folder, path)
  if ((await lstat(file)).size > TOML_BYTES_MAX)
    throw new OperatorError(`${path} has more than ${TOML_BYTES_MAX} bytes. Check the folder.`)
  if (expected !== undefined) await checkHash(file, path, expected)
  let value: unknown
  try {
    value = parse(withoutMark(await readFile(file, 'utf8')))
  } catch {
    throw new OperatorError(`${path} is not TOML. Check the folder.`)
  }
  if (checker.Check(value)) return value
  const [error] = checker.Errors(value)
  const field = error?.instancePath.slice(1).replaceAll('/', '.') || 'it'
  throw new OperatorError(`${path}: ${field} ${error?.message ?? 'has an unknown form'}. Correct the file.`)
}

/** A pack without internal hashes has none or an empty one. */
async function checkHash(file: string, path: string, { format = 'sha256', hash }: Expected): Promise<void> {
  if (hash === undefined || hash === '') return
  if (!HASH_FORMATS.includes(format))
    throw new OperatorError(`${path}: the hash format ${JSON.stringify(format)} is unknown. Run packwiz refresh.`)
  const digest = createHash(format)
  await pipeline(createReadStream(file), digest)
  if (digest.digest('hex') !== hash.toLowerCase())
    throw new OperatorError(`${path} does not have the ${format} hash of the pack. Run packwiz refresh.`)
}

type Known = { sha1: string; sha512: string; size_bytes: number; url: string }

/** Writes the pack as an .mrpack to the local disk. @throws OperatorError for a file that no version here contains. */
export async function stagePackwiz(deps: Deps, folder: string, pack: Packwiz): Promise<StagedFile> {
  const hashes = pack.files.map(({ download }) => download.hash)
  const known = await knownFiles(deps, hashes)
  const files = pack.files.map(({ path, metafile, download, env }) => {
    const file = known.get(download.hash)
    if (file === undefined)
      throw new OperatorError(
        `${metafile}: no version here contains the file ${posix.basename(path)}. Publish it first, or run the command with --projects-from ADDRESS.`,
      )
    const { sha1, sha512, size_bytes: fileSize, url } = file
    return { path, hashes: { sha1, sha512 }, env, downloads: [url], fileSize }
  })
  const rules = deps.fileRules.content_packs
  const index = {
    formatVersion: 1,
    game: rules.games[0],
    versionId: pack.version ?? '1.0.0',
    name: pack.name,
    summary: pack.summary,
    files,
    dependencies: loadersOf(deps, pack),
  }
  const zip = new ZipFile()
  const options = { mtime: EARLIEST, mode: MODE, forceDosTimestamp: true }
  zip.addBuffer(Buffer.from(JSON.stringify(index)), rules.index_names[0] ?? 'modrinth.index.json', {
    ...options,
    compress: false,
  })
  for (const path of pack.overrides)
    zip.addFile(await pathIn(folder, path), `${rules.override_folders[0] ?? 'overrides'}/${path}`, options)
  zip.end()
  const content = new PassThrough()
  zip.on('error', (error) => content.destroy(error as Error))
  ;(zip.outputStream as Readable).pipe(content)
  return stagePack(deps, folder, content)
}

/** Returns the game and the loader by the names of an .mrpack. @throws OperatorError for an unknown loader. */
function loadersOf({ resolving }: Pick<Deps, 'resolving'>, { versions }: Packwiz): Record<string, string> {
  const names = new Map(
    Object.values(resolving.pack_loaders).flatMap(({ mrpack, packwiz }): [string, string][] =>
      mrpack === undefined || packwiz === undefined ? [] : [[packwiz, mrpack]],
    ),
  )
  const dependencies: Record<string, string> = {}
  for (const [name, version] of Object.entries(versions)) {
    const loader = name === 'minecraft' ? name : names.get(name)
    if (loader === undefined)
      throw new OperatorError(
        `${PACK_FILE}: versions has the unknown loader ${JSON.stringify(name.slice(0, 64))}. Use one of ${[...names.keys()].join(', ')}.`,
      )
    dependencies[loader] = version
  }
  return dependencies
}

/** Returns public files with these hashes. */
async function knownFiles({ db, config }: Deps, hashes: readonly string[]): Promise<Map<string, Known>> {
  const { rows } = await sql<Omit<Known, 'url'> & { project: string; version: string; filename: string }>`
    select distinct on (file.sha512) file.sha1, file.sha512, file.size_bytes, file.filename, version.id as version,
      version.project_id as project
    from file join version on version.id = file.version_id join project on project.id = version.project_id
    where (file.sha512 = any(${[...hashes]}::text[]) or file.sha1 = any(${[...hashes]}::text[])) and ${versionVisibleTo(null)}
    order by file.sha512, version.date_published, version.id`.execute(db)
  return new Map(
    rows.flatMap(({ project, version, filename, ...file }): [string, Known][] => {
      const known = { ...file, url: `${config.files.baseUrl}${filePath(project, version, filename)}` }
      return [
        [file.sha1, known],
        [file.sha512, known],
      ]
    }),
  )
}
