// Small archives for demo versions: a few text files each, with the paths by which tools recognise their loaders.
import { crc32 } from 'node:zlib'
import type { DemoProject } from '#demo/catalogue/catalogue.ts'
import type { DemoVersion } from '#demo/catalogue/versions.ts'
import { LOADER_FILES, LOADER_VERSION, PACK_LOADERS } from '#demo/catalogue/words.ts'

type Subject = Pick<DemoProject, 'slug' | 'name' | 'summary' | 'licenseId'>

/**
 * Returns the file of a version: a ZIP archive of 1 to 2 kB, equal on every call and different for each version, because
 * two projects cannot have the same content.
 */
export function demoArchive(project: Subject, version: DemoVersion): Buffer {
  const paths = version.loaders.flatMap((loader) => LOADER_FILES[loader] ?? [])
  if (version.fileName.endsWith('.jar')) paths.push('META-INF/MANIFEST.MF')
  const entries = new Map(paths.map((path) => [path, contentOf(path, project, version)]))
  entries.set('README.txt', `${project.name} ${version.number}\n${project.slug}\n\n${project.summary}\n`)
  return storedZip(entries)
}

function contentOf(path: string, project: Subject, version: DemoVersion): string {
  const { slug, name, summary, licenseId } = project
  const { number } = version
  if (path.endsWith('.MF')) return 'Manifest-Version: 1.0\r\n\r\n'
  if (path.endsWith('.fsh')) return 'void main() {\n}\n'
  if (path.endsWith('.txt')) return 'renderDistance:12\n'
  if (path === 'modrinth.index.json') return packIndex(project, version)
  const facts = { id: slug, name, version: number, description: summary }
  // JSON strings are also valid in TOML and YAML.
  const lines = (between: string) => Object.entries(facts).map(([key, value]) => key + between + JSON.stringify(value))
  if (path.endsWith('.yml')) return lines(': ').join('\n')
  if (path.endsWith('.toml')) return [`license = "${licenseId}"`, '[[mods]]', ...lines(' = ')].join('\n')
  const pack = { pack_format: 15, description: summary }
  return JSON.stringify({ ...facts, schemaVersion: 1, license: licenseId, pack, files: [] }, null, 2)
}

/** A pack that only contains settings. Its index names the loaders of the version. */
function packIndex({ name, summary }: Subject, { number, fields }: DemoVersion): string {
  const [game = ''] = [fields['game_versions'] ?? []].flat().map(String)
  const loaders = [fields['mrpack_loaders'] ?? []]
    .flat()
    .map((loader) => [PACK_LOADERS[String(loader)], LOADER_VERSION])
  const dependencies = { minecraft: game, ...Object.fromEntries(loaders) }
  const index = { game: 'minecraft', formatVersion: 1, versionId: number, name, summary, files: [], dependencies }
  return JSON.stringify(index, null, 2)
}

// 1 January 1980, the first day of the format: the content must not depend on the clock.
const DOS_DATE = (1 << 5) | 1
const UTF8_NAMES = 0x800

/** Creates a ZIP archive without compression. Only for small entries with safe names. */
function storedZip(entries: ReadonlyMap<string, string>): Buffer {
  const files: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const [path, text] of entries) {
    const name = Buffer.from(path)
    const data = Buffer.from(text)
    // The same 26 bytes in both headers: version, flags, method, time, date, checksum, sizes, lengths of name and extra field.
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    common.writeUInt16LE(UTF8_NAMES, 2)
    common.writeUInt16LE(DOS_DATE, 8)
    common.writeUInt32LE(crc32(data), 10)
    common.writeUInt32LE(data.length, 14)
    common.writeUInt32LE(data.length, 18)
    common.writeUInt16LE(name.length, 22)
    const rest = Buffer.alloc(14)
    rest.writeUInt32LE(offset, 10)
    files.push(Buffer.from('PK\x03\x04'), common, name, data)
    directory.push(Buffer.from('PK\x01\x02\x14\x00'), common, rest, name)
    offset += 4 + common.length + name.length + data.length
  }
  const end = Buffer.alloc(18)
  end.writeUInt16LE(entries.size, 4)
  end.writeUInt16LE(entries.size, 6)
  end.writeUInt32LE(Buffer.concat(directory).length, 8)
  end.writeUInt32LE(offset, 12)
  return Buffer.concat([...files, ...directory, Buffer.from('PK\x05\x06'), end])
}
