// Loaders of modpacks: in the v3 API, a pack has a special loader and lists the loaders inside it in a separate field. The
// v2 API uses only the loaders inside.
export const PACK_LOADER = 'mrpack'
export const PACK_LOADERS_FIELD = 'mrpack_loaders'

/** Returns the loaders of a project, with the loaders inside its packs instead of the pack loader. */
export function projectLoaders(loaders: readonly string[], inside: readonly string[] | undefined): string[] {
  if (!loaders.includes(PACK_LOADER)) return [...loaders]
  return [...new Set([...loaders.filter((loader) => loader !== PACK_LOADER), ...(inside ?? [])])]
}

/** Returns the loaders of a version: for a pack that lists them, only the loaders inside. */
export function versionLoaders(loaders: readonly string[], inside: readonly string[] | undefined): string[] {
  return loaders.includes(PACK_LOADER) && inside !== undefined ? [...inside] : [...loaders]
}
