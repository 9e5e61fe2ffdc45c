// Packs that are published by the older API: it names the loaders inside, and only the names of parts and files, or the
// type of the project, tell that something is a pack.
import type { UploadedPart } from '#features/catalogue/versions/publish/prepare-files.ts'
import { PACK_LOADER, PACK_LOADERS_FIELD } from '../catalogue/pack-loaders.ts'

const PRIMARY_PART = 'mrpack-primary'

/** Whether a part or file of this name is a pack. */
export function isPackName(name: string): boolean {
  return name === PRIMARY_PART || name.toLowerCase().endsWith('.mrpack')
}

export function isPackPart({ name, filename }: Pick<UploadedPart, 'name' | 'filename'>): boolean {
  return isPackName(name) || isPackName(filename)
}

/** The loaders of a version as the newer API takes them: those sent are inside, where it is a pack. */
export function loadersToWrite(
  loaders: readonly string[],
  isPack: boolean,
): { loaders: string[]; mrpack_loaders?: string[] } {
  if (!isPack) return { loaders: [...loaders] }
  const inside = loaders.filter((loader) => loader !== PACK_LOADER)
  return { loaders: [PACK_LOADER], ...(inside.length === 0 ? {} : { [PACK_LOADERS_FIELD]: inside }) }
}
