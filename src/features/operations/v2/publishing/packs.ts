// Modpacks in the v2 API: requests list the loaders inside the pack, and only the names of form parts and files, or the
// project type, show that a version is a pack.
import type { UploadedPart } from '#features/catalogue/versions/publish/prepare-files.ts'
import { PACK_LOADER, PACK_LOADERS_FIELD } from '../catalogue/pack-loaders.ts'

const PRIMARY_PART = 'mrpack-primary'

/** Returns whether a form part or file with this name is a pack. */
export function isPackName(name: string): boolean {
  return name === PRIMARY_PART || name.toLowerCase().endsWith('.mrpack')
}

export function isPackPart({ name, filename }: Pick<UploadedPart, 'name' | 'filename'>): boolean {
  return isPackName(name) || isPackName(filename)
}

/** Returns the loaders of a version for the v3 API. The requested loaders of a pack are those inside it. */
export function loadersToWrite(
  loaders: readonly string[],
  isPack: boolean,
): { loaders: string[]; mrpack_loaders?: string[] } {
  if (!isPack) return { loaders: [...loaders] }
  const inside = loaders.filter((loader) => loader !== PACK_LOADER)
  return { loaders: [PACK_LOADER], ...(inside.length === 0 ? {} : { [PACK_LOADERS_FIELD]: inside }) }
}
