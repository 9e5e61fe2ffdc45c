// Reads the manifests of an inspected archive. They are only a source of proposals, so that a manifest that cannot be parsed
// is a warning, and a manifest of an unexpected form is ignored. Every size is bounded before anything is parsed.

import { FAILSAFE_SCHEMA, load as parseYaml } from 'js-yaml'
import { parse as parseToml } from 'smol-toml'
import { ApiError } from '#lib/errors.ts'
import { checkStorable } from '#lib/text/text-rules.ts'
import type { Archive } from '#platform/archives/inspect-archive.ts'
import type { Manifest } from './manifest.ts'
import { type Content, readFabric, readForge, readJarVersion, readOldForge, readQuilt } from './mod-manifests.ts'
import { readPack, readPackIndexEntry, readShaders } from './pack-manifests.ts'
import { readBukkit, readBungee, readPaper, readVelocity } from './plugin-manifests.ts'

const JSON_BYTES_MAX = 256 * 1024
const INDEX_BYTES_MAX = 4 * 1024 * 1024
const TOML_BYTES_MAX = 64 * 1024
const YAML_BYTES_MAX = 32 * 1024

type Context = { entryNames: readonly string[]; jarVersion: string | undefined }
type Reader = {
  entry: string
  maxBytes: number
  parse: (text: string) => unknown
  read: (data: unknown, context: Context) => Content | undefined
}

const json = { maxBytes: JSON_BYTES_MAX, parse: (text: string): unknown => JSON.parse(text) }
const toml = { maxBytes: TOML_BYTES_MAX, parse: (text: string): unknown => parseToml(text) }
/** Numbers stay texts: as a number, the version 1.20 would become 1.2. */
const YAML_OPTIONS = { json: true, schema: FAILSAFE_SCHEMA } as const
const yaml = { maxBytes: YAML_BYTES_MAX, parse: (text: string): unknown => parseYaml(text, YAML_OPTIONS) }

const READERS: readonly Reader[] = [
  { entry: 'fabric.mod.json', ...json, read: readFabric },
  { entry: 'quilt.mod.json', ...json, read: readQuilt },
  {
    entry: 'META-INF/neoforge.mods.toml',
    ...toml,
    read: (data, { jarVersion }) => readForge(data, 'neoforge', jarVersion),
  },
  { entry: 'META-INF/mods.toml', ...toml, read: (data, { jarVersion }) => readForge(data, 'forge', jarVersion) },
  // Old mods have line breaks inside texts, which Forge accepts. Between texts, a space means the same.
  { entry: 'mcmod.info', ...json, parse: (text) => JSON.parse(text.replace(/[\n\r\t]/g, ' ')), read: readOldForge },
  { entry: 'paper-plugin.yml', ...yaml, read: readPaper },
  { entry: 'plugin.yml', ...yaml, read: readBukkit },
  { entry: 'bungee.yml', ...yaml, read: readBungee },
  { entry: 'velocity-plugin.json', ...json, read: readVelocity },
  { entry: 'modrinth.index.json', ...json, maxBytes: INDEX_BYTES_MAX, read: readPackIndexEntry },
  { entry: 'pack.mcmeta', ...json, read: (data, { entryNames }) => readPack(data, entryNames) },
]

/** Entries that newer mods and plugins also contain: they count only in an archive without a manifest before them. */
const ONLY_ALONE: ReadonlySet<string> = new Set(['mcmod.info', 'pack.mcmeta'])

/** Returns the manifests of the archive, the most specific first; none for an archive that cannot be read. */
export async function readManifests(archive: Archive | undefined): Promise<Manifest[]> {
  if (archive?.readable !== true) return []
  const entryNames = archive.entries.map(({ name }) => name)
  const names = new Set(entryNames)
  const jarText = await readText(archive, 'META-INF/MANIFEST.MF', TOML_BYTES_MAX)
  const context = { entryNames, jarVersion: jarText === undefined ? undefined : readJarVersion(jarText) }
  const manifests: Manifest[] = []
  for (const { entry, maxBytes, parse, read } of READERS) {
    if (!names.has(entry) || (ONLY_ALONE.has(entry) && manifests.length > 0)) continue
    const data = parsed(await readText(archive, entry, maxBytes), parse)
    if (data === undefined) manifests.push({ entry, isUnreadable: true, loaders: [], dependencies: [] })
    const content = data && attempt(() => read(data.value, context))
    if (content !== undefined) manifests.push({ entry, ...content })
  }
  // The programs that load shaders also find the folder in another one, for example in an archive of a code host.
  const shaders = entryNames.map((name) => /^(?:.*\/)?shaders\//.exec(name)?.[0]).find((name) => name !== undefined)
  if (manifests.length === 0 && shaders !== undefined) manifests.push({ entry: shaders, ...readShaders() })
  return manifests
}

/** Returns the entries that cannot be parsed. */
export function unreadableEntries(manifests: readonly Manifest[]): string[] {
  return manifests.flatMap(({ entry, isUnreadable }) => (isUnreadable === true ? [entry] : []))
}

/** Returns the entry as text without a byte order mark; undefined if it is missing, too large or not UTF-8. */
async function readText(
  archive: Extract<Archive, { readable: true }>,
  entry: string,
  maxBytes: number,
): Promise<string | undefined> {
  try {
    const bytes = await archive.readEntry(entry, maxBytes)
    return bytes && new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (error) {
    if (error instanceof TypeError || (error instanceof ApiError && error.kind === 'invalid_input')) return undefined
    throw error
  }
}

/** Parsers throw errors of many kinds, for example for text that is nested too deeply. */
function attempt<T>(read: () => T): T | undefined {
  try {
    const result = read()
    checkStorable(result)
    return result
  } catch {
    return undefined
  }
}

/** Returns the parsed text, or undefined if it cannot be parsed. */
function parsed(text: string | undefined, parse: Reader['parse']): { value: unknown } | undefined {
  try {
    return text === undefined ? undefined : { value: parse(text) }
  } catch {
    return undefined
  }
}
