// The common form of all manifests: what an archive declares about itself.

/** A dependency as a manifest declares it. */
export type DeclaredDependency = { id: string; type: 'required' | 'optional' | 'incompatible' }

/** The game versions that a manifest declares. */
export type DeclaredGameVersions = {
  /** `predicates`: `>=1.20 <1.21`; `maven`: `[1.20,1.21)`; `listed`: versions by name; `minimum`: the oldest version. */
  form: 'predicates' | 'maven' | 'listed' | 'minimum'
  /** Alternatives. A version that one of them contains is supported. */
  ranges: string[]
}

/** Description of the project in a manifest. */
export type About = {
  /** One line of at most 256 characters. */
  summary?: string
  /** As the manifest writes it: often an SPDX expression. */
  license?: string
  /** URLs that are not checked yet, by the platforms of `link_urls`. */
  links?: Record<string, string>
  /** Name of the archive entry with the icon, which might be missing. */
  icon?: string
}

/** The content of one manifest. Everything is optional, because manifests are written by anybody. */
export type Manifest = {
  /** Name of the entry in the archive. */
  entry: string
  /** Names of the loaders that read this manifest. */
  loaders: string[]
  /** The loader field that names the loaders inside a pack. */
  packLoaders?: string[]
  /** The version of each of these loaders. */
  packLoaderVersions?: Record<string, string>
  /** ID of the mod or plugin, in lower case. */
  id?: string
  number?: string
  name?: string
  gameVersions?: DeclaredGameVersions
  environment?: string
  dependencies: DeclaredDependency[]
  about?: About
  /** Whether the entry cannot be parsed, so that it declares nothing. */
  isUnreadable?: true
}

const DEPENDENCIES_MAX = 64
const RANGES_MAX = 64
export const DECLARED_ID_LENGTH_MAX = 64
const NAME_LENGTH_MAX = 64
const RANGE_LENGTH_MAX = 200

/** Dependencies on the game, the runtime and the loaders, which are not projects. */
const PLATFORM_IDS = new Set([
  'minecraft',
  'java',
  'fabricloader',
  'fabric-loader',
  'quilt_loader',
  'quilt-loader',
  'forge',
  'neoforge',
  'javafml',
  'lowcodefml',
  'fml',
  'bukkit',
  'spigot',
  'paper',
  'velocity',
  'spongeapi',
])

export type Fields = Record<string, unknown>

/** Returns an object as its fields; other values have none. */
export function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}
}

export function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

/** Returns a short text without controls, or undefined. Placeholders that a build tool did not replace are not values. */
export function textOf(value: unknown, maxLength: number = NAME_LENGTH_MAX): string | undefined {
  const text = typeof value === 'number' ? String(value) : value
  if (typeof text !== 'string' || !text.isWellFormed() || /\p{Cc}|\$\{|@[A-Z_]+@/u.test(text)) return undefined
  const trimmed = text.trim()
  return trimmed === '' || trimmed.length > maxLength ? undefined : trimmed
}

/** Returns an ID in lower case, or undefined. */
export function idOf(value: unknown): string | undefined {
  const text = textOf(value, DECLARED_ID_LENGTH_MAX)?.toLowerCase()
  return text !== undefined && /^[\w.:+ -]+$/.test(text) ? text : undefined
}

/** Returns the texts of ranges: of one text or of a list. */
export function rangesOf(value: unknown): string[] {
  const ranges = Array.isArray(value) ? value : [value]
  return ranges.slice(0, RANGES_MAX).flatMap((range) => textOf(range, RANGE_LENGTH_MAX) ?? [])
}

/** Returns the dependencies on projects, without duplicates. The first declaration of an ID counts. */
export function dependenciesOf(
  declared: readonly { id: unknown; type: DeclaredDependency['type'] }[],
): DeclaredDependency[] {
  const byId = new Map<string, DeclaredDependency>()
  for (const { id: given, type } of declared.slice(0, 4 * DEPENDENCIES_MAX)) {
    const id = idOf(given)
    if (id === undefined || PLATFORM_IDS.has(id) || byId.has(id)) continue
    byId.set(id, { id, type })
  }
  return [...byId.values()].slice(0, DEPENDENCIES_MAX)
}

/** Removes absent values, which `exactOptionalPropertyTypes` distinguishes from undefined. */
export function compact<T extends object>(values: T): { [Key in keyof T]: Exclude<T[Key], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never
}

/**
 * Returns the primary file of a new version: the first file whose manifest has named the project before, otherwise the first
 * file with a manifest, otherwise the first file.
 */
export function choosePrimaryOf<File extends { manifests: readonly Manifest[] }>(
  files: readonly File[],
  knownIds: ReadonlySet<string>,
): File | undefined {
  const named = files.find(({ manifests }) => manifests.some(({ id }) => id !== undefined && knownIds.has(id)))
  return named ?? files.find(({ manifests }) => manifests.length > 0) ?? files[0]
}
