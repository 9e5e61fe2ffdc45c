// Loaders of modpacks: in the v3 API, a pack has a special loader and lists the loaders inside it in a separate field. The
// v2 API uses only the loaders inside. In a request, only the names of form parts and files, or the project type, show
// that a version is a pack.
import { PACK_LOADERS_FIELD } from '#features/catalogue/versions/files/pack-loaders.ts'
import type { UploadedPart } from '#features/catalogue/versions/publish/prepare-files.ts'

export const PACK_LOADER = 'mrpack'

/** Returns the loaders of a project, with the loaders inside its packs instead of the pack loader. */
export function projectLoaders(loaders: readonly string[], inside: readonly string[] | undefined): string[] {
  if (!loaders.includes(PACK_LOADER)) return [...loaders]
  return [...new Set([...loaders.filter((loader) => loader !== PACK_LOADER), ...(inside ?? [])])]
}

/** Returns the loaders of a version: for a pack that lists them, only the loaders inside. */
export function versionLoaders(loaders: readonly string[], inside: readonly string[] | undefined): string[] {
  return loaders.includes(PACK_LOADER) && inside !== undefined ? [...inside] : [...loaders]
}

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
