/** Renames aliases of keys, unless the key is present too. Returns other values than objects unchanged. */
export function renameAliases(input: unknown, aliases: Readonly<Record<string, string>>): unknown {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return input
  const renamed: Record<string, unknown> = { ...input }
  for (const [alias, name] of Object.entries(aliases)) {
    if (Object.hasOwn(renamed, alias) && !Object.hasOwn(renamed, name)) {
      renamed[name] = renamed[alias]
      delete renamed[alias]
    }
  }
  return renamed
}
