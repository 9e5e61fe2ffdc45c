// Reads the manifests of an inspected archive. A manifest that is too large, damaged or of an unexpected form is ignored,
// because it is only a source of proposals. Every size is bounded before anything is parsed.

import { FAILSAFE_SCHEMA, load as parseYaml } from 'js-yaml'
import { parse as parseToml } from 'smol-toml'
import { ApiError } from '#lib/errors.ts'
import { checkStorable } from '#lib/text/text-rules.ts'
import type { Archive } from '#platform/archives/inspect-archive.ts'
import type { Manifest } from './manifest.ts'
import { type Content, readFabric, readForge, readJarVersion, readQuilt } from './mod-manifests.ts'
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
  { entry: 'paper-plugin.yml', ...yaml, read: readPaper },
  { entry: 'plugin.yml', ...yaml, read: readBukkit },
  { entry: 'bungee.yml', ...yaml, read: readBungee },
  { entry: 'velocity-plugin.json', ...json, read: readVelocity },
  { entry: 'modrinth.index.json', ...json, maxBytes: INDEX_BYTES_MAX, read: readPackIndexEntry },
  { entry: 'pack.mcmeta', ...json, read: (data, { entryNames }) => readPack(data, entryNames) },
]

/** Entries that mods and plugins also contain: they count only in an archive without another manifest. */
const ONLY_ALONE = 'pack.mcmeta'

/** Returns the manifests of the archive, the most specific first; none for an archive that cannot be read. */
export async function readManifests(archive: Archive | undefined): Promise<Manifest[]> {
  if (archive?.readable !== true) return []
  const entryNames = archive.entries.map(({ name }) => name)
  const names = new Set(entryNames)
  const jarText = await readText(archive, 'META-INF/MANIFEST.MF', TOML_BYTES_MAX)
  const context = { entryNames, jarVersion: jarText === undefined ? undefined : readJarVersion(jarText) }
  const manifests: Manifest[] = []
  for (const { entry, maxBytes, parse, read } of READERS) {
    if (!names.has(entry) || (entry === ONLY_ALONE && manifests.length > 0)) continue
    const text = await readText(archive, entry, maxBytes)
    const content = text === undefined ? undefined : attempt(() => read(parse(text), context))
    if (content !== undefined) manifests.push({ entry, ...content })
  }
  const shaders = entryNames.find((name) => name.startsWith('shaders/'))
  if (manifests.length === 0 && shaders !== undefined) manifests.push({ entry: 'shaders/', ...readShaders() })
  return manifests
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
function attempt(read: () => Content | undefined): Content | undefined {
  try {
    const content = read()
    checkStorable(content)
    return content
  } catch {
    return undefined
  }
}
