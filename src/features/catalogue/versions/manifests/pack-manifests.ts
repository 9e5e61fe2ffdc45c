// Reads the manifests of packs: pack.mcmeta, modrinth.index.json and the folder of shaders.

import { aboutOf } from './about.ts'
import { compact, fieldsOf, textOf } from './manifest.ts'
import type { Content } from './mod-manifests.ts'

/** First and last game version of each format of resource packs and of data packs, which count separately. */
const FORMATS: Record<'minecraft' | 'datapack', readonly (readonly [format: number, first: string, last: string])[]> = {
  minecraft: [
    [1, '1.6.1', '1.8.9'],
    [2, '1.9', '1.10.2'],
    [3, '1.11', '1.12.2'],
    [4, '1.13', '1.14.4'],
    [5, '1.15', '1.16.1'],
    [6, '1.16.2', '1.16.5'],
    [7, '1.17', '1.17.1'],
    [8, '1.18', '1.18.2'],
    [9, '1.19', '1.19.2'],
    [12, '1.19.3', '1.19.3'],
    [13, '1.19.4', '1.19.4'],
    [15, '1.20', '1.20.1'],
    [18, '1.20.2', '1.20.2'],
    [22, '1.20.3', '1.20.4'],
    [32, '1.20.5', '1.20.6'],
    [34, '1.21', '1.21.1'],
    [42, '1.21.2', '1.21.3'],
    [46, '1.21.4', '1.21.4'],
    [55, '1.21.5', '1.21.5'],
    [63, '1.21.6', '1.21.6'],
    [64, '1.21.7', '1.21.8'],
  ],
  datapack: [
    [4, '1.13', '1.14.4'],
    [5, '1.15', '1.16.1'],
    [6, '1.16.2', '1.16.5'],
    [7, '1.17', '1.17.1'],
    [8, '1.18', '1.18.1'],
    [9, '1.18.2', '1.18.2'],
    [10, '1.19', '1.19.3'],
    [12, '1.19.4', '1.19.4'],
    [15, '1.20', '1.20.1'],
    [18, '1.20.2', '1.20.2'],
    [26, '1.20.3', '1.20.4'],
    [41, '1.20.5', '1.20.6'],
    [48, '1.21', '1.21.1'],
    [57, '1.21.2', '1.21.3'],
    [61, '1.21.4', '1.21.4'],
    [71, '1.21.5', '1.21.5'],
    [80, '1.21.6', '1.21.6'],
    [81, '1.21.7', '1.21.8'],
  ],
}

/** A pack for the game: a data pack if it contains data and no assets. */
export function readPack(data: unknown, entryNames: readonly string[]): Content | undefined {
  const pack = fieldsOf(fieldsOf(data)['pack'])
  const span = formatSpan(pack)
  const has = (folder: string) => entryNames.some((name) => name.startsWith(`${folder}/`))
  const loader = has('data') && !has('assets') ? 'datapack' : 'minecraft'
  const about = aboutOf({ summary: pack['description'] })
  if (span === undefined)
    return Object.hasOwn(fieldsOf(data), 'pack') ? compact({ loaders: [loader], about, dependencies: [] }) : undefined
  const ranges = FORMATS[loader].flatMap(([format, first, last]) =>
    format >= span.min && format <= span.max ? [`[${first},${last}]`] : [],
  )
  return compact({
    loaders: [loader],
    gameVersions: ranges.length === 0 ? undefined : { form: 'maven' as const, ranges },
    dependencies: [],
    about,
  })
}

/** Returns the formats that the pack supports: `pack_format`, widened by `supported_formats` or `min_format` and `max_format`. */
function formatSpan(pack: Record<string, unknown>): { min: number; max: number } | undefined {
  const supported = pack['supported_formats']
  const bounds = Array.isArray(supported)
    ? supported
    : [fieldsOf(supported)['min_inclusive'], fieldsOf(supported)['max_inclusive']]
  const values = [pack['pack_format'], pack['min_format'], pack['max_format'], supported, ...bounds]
    // A format can have a minor number: [82, 1].
    .map((value) => (Array.isArray(value) ? value[0] : value))
    .filter((value): value is number => typeof value === 'number' && Number.isFinite(value))
  return values.length === 0 ? undefined : { min: Math.min(...values), max: Math.max(...values) }
}

/** Dependencies of the index that name the loader of the pack. */
const PACK_LOADERS = new Map([
  ['forge', 'forge'],
  ['neoforge', 'neoforge'],
  ['fabric-loader', 'fabric'],
  ['quilt-loader', 'quilt'],
])

/** Returns the loaders that the dependencies of an index name. */
export function packLoadersOf(dependencies: Readonly<Record<string, unknown>>): string[] {
  return Object.keys(dependencies).flatMap((name) => PACK_LOADERS.get(name) ?? [])
}

/** The embedded files become dependencies when the version is published. */
export function readPackIndexEntry(data: unknown): Content | undefined {
  const index = fieldsOf(data)
  if (typeof index['formatVersion'] !== 'number') return undefined
  const dependencies = fieldsOf(index['dependencies'])
  const game = textOf(dependencies['minecraft'])
  const versions = Object.entries(dependencies).flatMap(([name, value]) => {
    const [loader, version] = [PACK_LOADERS.get(name), textOf(value)]
    return loader === undefined || version === undefined ? [] : [[loader, version] as const]
  })
  return compact({
    loaders: ['mrpack'],
    packLoaders: packLoadersOf(dependencies),
    packLoaderVersions: versions.length === 0 ? undefined : Object.fromEntries(versions),
    number: textOf(index['versionId']),
    name: textOf(index['name']),
    gameVersions: game === undefined ? undefined : { form: 'listed' as const, ranges: [game] },
    dependencies: [],
    about: aboutOf({ summary: index['summary'] }),
  })
}

/** A pack of shaders has no manifest, only a folder. */
export function readShaders(): Content {
  return { loaders: ['iris', 'optifine'], dependencies: [] }
}
