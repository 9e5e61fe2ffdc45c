// Packs: versions of the loader that only unpacks them, which name the loaders inside in a field of their own. The older
// API shows and takes those inside.
export const PACK_LOADER = 'mrpack'
export const PACK_LOADERS_FIELD = 'mrpack_loaders'

/** A project's loaders: those inside its packs stand for the pack's own. */
export function projectLoaders(loaders: readonly string[], inside: readonly string[] | undefined): string[] {
  if (!loaders.includes(PACK_LOADER)) return [...loaders]
  return [...new Set([...loaders.filter((loader) => loader !== PACK_LOADER), ...(inside ?? [])])]
}

/** A version's loaders: those inside alone, where it is a pack that names them. */
export function versionLoaders(loaders: readonly string[], inside: readonly string[] | undefined): string[] {
  return loaders.includes(PACK_LOADER) && inside !== undefined ? [...inside] : [...loaders]
}
