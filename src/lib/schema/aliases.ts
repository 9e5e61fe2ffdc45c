// Other names under which clients send the same keys.

/**
 * The object with each alias renamed to the key it stands for, where that key is not there itself. What is no object is
 * returned as it is, for the schema to refuse.
 */
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
