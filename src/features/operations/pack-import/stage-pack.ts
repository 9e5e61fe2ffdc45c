// Copies a pack to the local disk of the instance.
import { createReadStream } from 'node:fs'
import type { Readable } from 'node:stream'
import { FILE_BYTES_MAX } from '#features/catalogue/versions/publish/prepare-files.ts'
import { refusing } from '#features/operations/project-folder/read-folder.ts'
import type { Deps } from '#ports/deps.ts'
import type { StagedFile } from '#ports/files/files.ts'

export const stagePackFile = (deps: Pick<Deps, 'files'>, path: string): Promise<StagedFile> =>
  stagePack(deps, path, createReadStream(path))

/** @throws OperatorError if the content is larger than an upload can be. */
export function stagePack({ files }: Pick<Deps, 'files'>, name: string, content: Readable): Promise<StagedFile> {
  return refusing(name, () => files.stage(content, { maxBytes: FILE_BYTES_MAX, field: name }))
}
