// Small valid archives for demo versions: a few text files each, as the rules of their loaders require.
import { crc32 } from 'node:zlib'
import type { DemoProject } from '#demo/catalogue/catalogue.ts'
import type { DemoVersion } from '#demo/catalogue/versions.ts'
import { type FileForm, LOADER_FILES } from '#demo/catalogue/words.ts'

type Subject = Pick<DemoProject, 'slug' | 'name' | 'summary' | 'licenseId'>

/**
 * Returns the file of a version: a ZIP archive of 1 to 2 kB, equal on every call and different for each version, because
 * two projects cannot have the same content.
 */
export function demoArchive(project: Subject, version: DemoVersion): Buffer {
  const entries = new Map([
    ['README.txt', `${project.name} ${version.number}\n${project.slug}\n\n${project.summary}\n`],
  ])
  for (const loader of version.loaders) {
    for (const [path, form] of LOADER_FILES[loader] ?? []) entries.set(path, FORMS[form](project, version))
  }
  if (version.fileName.endsWith('.jar')) entries.set('META-INF/MANIFEST.MF', 'Manifest-Version: 1.0\r\n\r\n')
  return storedZip(entries)
}

const FORMS: Readonly<Record<FileForm, (project: Subject, version: DemoVersion) => string>> = {
  json: (project, version) => json({ ...identity(project, version), schemaVersion: 1, license: project.licenseId }),
  toml: (project, version) =>
    [`license = ${json(project.licenseId)}`, '[[mods]]', ...lines(identity(project, version), ' = ')].join('\n'),
  yaml: (project, version) => lines(identity(project, version), ': ').join('\n'),
  pack: (project) => json({ pack: { pack_format: 15, description: project.summary } }),
  shader: () => 'void main() {\n}\n',
  index: (project, version) =>
    json({
      game: 'minecraft',
      formatVersion: 1,
      versionId: version.number,
      name: project.name,
      summary: project.summary,
      files: [],
      dependencies: { minecraft: firstOf(version.fields, 'game_versions') },
    }),
  options: () => 'renderDistance:12\n',
}

function identity(project: Subject, version: DemoVersion) {
  return { id: project.slug, name: project.name, version: version.number, description: project.summary }
}

function json(value: unknown): string {
  return JSON.stringify(value, null, 2)
}

/** JSON strings are also valid in TOML and YAML. */
function lines(values: Record<string, string>, between: string): string[] {
  return Object.entries(values).map(([key, value]) => `${key}${between}${JSON.stringify(value)}`)
}

function firstOf(fields: DemoVersion['fields'], name: string): string {
  const value = fields[name]
  return Array.isArray(value) ? String(value[0] ?? 'unknown') : 'unknown'
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
