// Writes a lock as an .mrpack: a ZIP archive with an index of files to download. The same lock has the same bytes.
import { buffer } from 'node:stream/consumers'
import { ZipFile } from 'yazl'
import { invalidInput } from '#lib/errors.ts'
import { convertInPieces } from '#lib/text/json-pieces.ts'
import type { FileRules } from '#taxonomy/file-rules.ts'
import { DEFAULT_NAME, DEFAULT_VERSION, listPackFiles, loaderKeyOf, type PackDeps } from './pack.ts'
import type { LockFiles } from './store-lock.ts'

/** The earliest time that an archive can contain, in the time zone of the process, which archives have. */
const EARLIEST = new Date(1980, 0, 1)
const MODE = 0o100644

/** @throws ApiError 400 naming `loader_version` or `game_versions` if the lock lacks it; 409 for missing files. */
export async function writeMrpack(
  deps: PackDeps & { fileRules: FileRules },
  lock: LockFiles,
): Promise<Buffer<ArrayBufferLike>> {
  const { name, version, loaders, loader_version: loaderVersion, game_versions } = lock.target
  const rules = deps.fileRules.content_packs
  const gameVersion = game_versions[0]
  if (gameVersion === undefined) throw lacks('game_versions')
  const loader = loaderKeyOf(deps, loaders, 'mrpack')
  if (loader !== undefined && loaderVersion == null) throw lacks('loader_version')
  const packed = await listPackFiles(deps, lock)
  const files = await convertInPieces(packed, (file) =>
    JSON.stringify({
      path: `${file.folder}/${file.filename}`,
      hashes: { sha1: file.sha1, sha512: file.sha512 },
      env: { client: file.client, server: file.server },
      downloads: [file.url],
      fileSize: file.sizeBytes,
    }),
  )
  const head = JSON.stringify({
    formatVersion: 1,
    game: rules.games[0],
    versionId: version ?? DEFAULT_VERSION,
    name: name ?? DEFAULT_NAME,
    dependencies: { minecraft: gameVersion, ...(loader === undefined ? {} : { [loader]: loaderVersion }) },
  })
  const index = `${head.slice(0, -1)},"files":[${files.join()}]}`
  const zip = new ZipFile()
  zip.addBuffer(Buffer.from(index), rules.index_names[0] ?? 'modrinth.index.json', {
    mtime: EARLIEST,
    mode: MODE,
    compress: false,
    forceDosTimestamp: true,
  })
  zip.end()
  return buffer(zip.outputStream)
}

function lacks(field: string) {
  return invalidInput(`An .mrpack needs ${field}: store the lock again with ${field}`, field)
}
