// Copies a pack to the local disk of the instance.
import { createReadStream } from 'node:fs'
import type { Readable } from 'node:stream'
import { FILE_BYTES_MAX } from '#features/catalogue/versions/publish/prepare-files.ts'
import { refusing } from '#features/exchange/project-folder/read-folder.ts'
import type { Deps } from '#ports/deps.ts'
import type { StagedFile } from '#ports/files/files.ts'

/** A file of a pack is found by one of these hashes. */
export type PackHash = { algorithm: 'sha1' | 'sha512'; hash: string }

export const stagePackFile = (deps: Pick<Deps, 'files'>, path: string): Promise<StagedFile> =>
  stagePack(deps, path, createReadStream(path))

/** @throws OperatorError if the content is larger than an upload can be. */
export function stagePack({ files }: Pick<Deps, 'files'>, name: string, content: Readable): Promise<StagedFile> {
  return refusing(name, () => files.stage(content, { maxBytes: FILE_BYTES_MAX, field: name }))
}
