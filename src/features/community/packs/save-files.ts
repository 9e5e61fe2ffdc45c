// The files of a save: as an .mrpack, and as a packwiz pack whose address stays the same while its saves change.
import { writeMrpack } from '#features/catalogue/resolve/locks/mrpack.ts'
import { listPackFiles, type PackDeps } from '#features/catalogue/resolve/locks/pack.ts'
import {
  type PackNames,
  pathByContent,
  writeIndex,
  writeMetafile,
  writePack,
} from '#features/catalogue/resolve/locks/packwiz.ts'
import { getLockFiles, type LockFiles } from '#features/catalogue/resolve/locks/store-lock.ts'
import type { Deps } from '#ports/deps.ts'
import { listSaves, type SaveRow } from './queries.ts'

type SaveDeps = PackDeps & Pick<Deps, 'cache' | 'config' | 'now' | 'fileRules'>
type Saved = Pick<SaveRow, 'number' | 'lock_id'>

/** Maximum number of saves in which the description of a file is searched: a client has read one of the newest indexes. */
const SEARCHED_MAX = 20

/** Returns the lock of a save. The number of the save is the version of the pack. @throws ApiError 404. */
export async function getSaveFiles(deps: SaveDeps, { number, lock_id }: Saved): Promise<LockFiles> {
  const lock = await getLockFiles(deps, lock_id)
  return { ...lock, target: { ...lock.target, version: String(number) } }
}

/** @throws ApiError 409 naming versions whose files are no longer public. */
export async function writeSaveMrpack(deps: SaveDeps, save: Saved): Promise<Buffer<ArrayBufferLike>> {
  return writeMrpack(deps, await getSaveFiles(deps, save))
}

const namesOf = ({ number }: Saved): PackNames => ({ index: `index-${number}.toml`, pathOf: pathByContent })

/** Returns `pack.toml`, which names the index of the save. @throws ApiError 409 as above. */
export async function writeSavePack(deps: SaveDeps, save: Saved): Promise<string> {
  const lock = await getSaveFiles(deps, save)
  return writePack(deps, lock, await listPackFiles(deps, lock), namesOf(save))
}

/** @throws ApiError 409 as above. */
export async function writeSaveIndex(deps: SaveDeps, save: Saved): Promise<string> {
  return writeIndex(await listPackFiles(deps, await getSaveFiles(deps, save)), namesOf(save))
}

/** Returns the description of a file of one of the newest saves; undefined if they do not contain it. */
export async function findSaveMetafile(deps: SaveDeps, packId: string, path: string): Promise<string | undefined> {
  for (const save of await listSaves(deps.db, packId, SEARCHED_MAX)) {
    const files = await listPackFiles(deps, await getSaveFiles(deps, save))
    const file = files.find((each) => pathByContent(each) === path)
    if (file !== undefined) return writeMetafile(file)
  }
  return undefined
}
