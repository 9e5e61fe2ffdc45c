// The caches that the modules define. docs/contributors/caching.md lists them.

/** The common part of all definitions of caches. */
export interface CacheDefinition {
  /** 1 to 32 small letters, digits and hyphens; unique. */
  readonly name: string
  /** A description for the documentation. */
  readonly contains: string
}

const defined: CacheDefinition[] = []

/** Defines a cache at the module that uses it. The same definition opens the same cache. */
export function defineCache<Definition extends CacheDefinition>(definition: Definition): Definition {
  defined.push(definition)
  return definition
}

/** Returns the definitions of all modules that are loaded. */
export const definedCaches = (): readonly CacheDefinition[] => defined
