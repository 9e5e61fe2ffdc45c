// Reads the manifests of mods: fabric.mod.json, quilt.mod.json, mods.toml and mcmod.info.

import { aboutOf, contactLinks, singleOf } from './about.ts'
import {
  compact,
  type DeclaredDependency,
  type DeclaredGameVersions,
  dependenciesOf,
  type Fields,
  fieldsOf,
  idOf,
  listOf,
  type Manifest,
  rangesOf,
  textOf,
} from './manifest.ts'

/** A manifest without the name of its entry. */
export type Content = Omit<Manifest, 'entry'>

const ENVIRONMENTS = new Map([
  ['client', 'client_only'],
  ['server', 'server_only'],
])

function ranges(form: DeclaredGameVersions['form'], value: unknown): DeclaredGameVersions | undefined {
  const texts = rangesOf(value)
  return texts.length === 0 ? undefined : { form, ranges: texts }
}

/** Keys of `fabric.mod.json` that name other mods. */
const FABRIC_RELATIONS = [
  ['depends', 'required'],
  ['recommends', 'optional'],
  ['suggests', 'optional'],
  ['breaks', 'incompatible'],
] as const

export function readFabric(data: unknown): Content | undefined {
  const mod = fieldsOf(Array.isArray(data) ? data[0] : data)
  const id = idOf(mod['id'])
  if (id === undefined) return undefined
  const declared = FABRIC_RELATIONS.flatMap(([key, type]) =>
    Object.keys(fieldsOf(mod[key])).map((id) => ({ id, type })),
  )
  return compact({
    loaders: ['fabric'],
    id,
    number: textOf(mod['version']),
    name: textOf(mod['name']),
    gameVersions: ranges('predicates', fieldsOf(mod['depends'])['minecraft']),
    environment: ENVIRONMENTS.get(String(mod['environment'])),
    dependencies: dependenciesOf(declared),
    about: aboutOf({
      summary: mod['description'],
      license: singleOf(mod['license']),
      links: contactLinks(mod['contact']),
      icon: mod['icon'],
    }),
  })
}

export function readQuilt(data: unknown): Content | undefined {
  const mod = fieldsOf(fieldsOf(data)['quilt_loader'])
  const id = idOf(mod['id'])
  if (id === undefined) return undefined
  const relation = (key: string, type: DeclaredDependency['type']) =>
    listOf(mod[key]).map((entry) => {
      const fields = fieldsOf(entry)
      const isOptional = type === 'required' && fields['optional'] === true
      // An entry is an ID or an object; an ID can have a group: `group:id`.
      const id = String(typeof entry === 'string' ? entry : fields['id']).replace(/^.*:/, '')
      return { id, type: isOptional ? ('optional' as const) : type, versions: fields['versions'] }
    })
  const depends = relation('depends', 'required')
  const game = depends.find((entry) => entry.id === 'minecraft')?.versions
  const metadata = fieldsOf(mod['metadata'])
  // A licence is an SPDX identifier, or an object with its ID.
  const license = singleOf(metadata['license'])
  return compact({
    loaders: ['quilt'],
    id,
    number: textOf(mod['version']),
    name: textOf(metadata['name']),
    gameVersions: ranges('predicates', fieldsOf(game)['any'] ?? game),
    environment: ENVIRONMENTS.get(String(fieldsOf(fieldsOf(data)['minecraft'])['environment'])),
    dependencies: dependenciesOf([...depends, ...relation('breaks', 'incompatible')]),
    about: aboutOf({
      summary: metadata['description'],
      license: fieldsOf(license)['id'] ?? license,
      links: contactLinks(metadata['contact']),
      icon: metadata['icon'],
    }),
  })
}

const FORGE_TYPES = new Map<unknown, DeclaredDependency['type']>([
  ['required', 'required'],
  ['optional', 'optional'],
  ['incompatible', 'incompatible'],
  ['discouraged', 'incompatible'],
])

/** @param jarVersion version in `META-INF/MANIFEST.MF`, to which `version = "${file.jarVersion}"` refers. */
export function readForge(
  data: unknown,
  loader: 'forge' | 'neoforge',
  jarVersion: string | undefined,
): Content | undefined {
  const file = fieldsOf(data)
  const mod = fieldsOf(listOf(file['mods'])[0])
  const id = idOf(mod['modId'])
  if (id === undefined) return undefined
  const own = fieldsOf(file['dependencies'])[String(mod['modId'])]
  const declared = listOf(own).map((entry) => {
    const fields: Fields = fieldsOf(entry)
    const type = FORGE_TYPES.get(String(fields['type']).toLowerCase())
    return {
      ...fields,
      id: fields['modId'],
      type: type ?? (fields['mandatory'] === false ? 'optional' : 'required'),
    } as const
  })
  const game = declared.find((entry) => entry.id === 'minecraft') as Fields | undefined
  const isJarVersion = typeof mod['version'] === 'string' && mod['version'].includes('file.jarVersion')
  // Both loaders read mods.toml in old versions, so the dependencies decide.
  const isForNeoForge = loader === 'neoforge' || declared.some((entry) => entry.id === 'neoforge')
  return compact({
    loaders: [isForNeoForge ? 'neoforge' : 'forge'],
    id,
    number: isJarVersion ? jarVersion : textOf(mod['version']),
    name: textOf(mod['displayName']),
    gameVersions: ranges('maven', game?.['versionRange']),
    environment: file['clientSideOnly'] === true ? 'client_only' : undefined,
    dependencies: dependenciesOf(declared),
    about: aboutOf({
      summary: mod['description'],
      license: file['license'],
      links: { site: mod['displayURL'], issues: file['issueTrackerURL'] },
      icon: mod['logoFile'] ?? file['logoFile'],
    }),
  })
}

/** An entry is an ID with an optional range: `after:jei@[4.15,)`. */
const oldForgeId = (entry: unknown): string => String(entry).replace(/@.*$/s, '').replace(/^.*:/s, '')

/** Reads `mcmod.info`, a list of mods or an object with the list. Sponge reads the same file for its plugins. */
export function readOldForge(data: unknown): Content | undefined {
  const mods = Array.isArray(data) ? data : listOf(fieldsOf(data)['modList'])
  const mod = fieldsOf(mods[0])
  const id = idOf(mod['modid'])
  if (id === undefined) return undefined
  const required = listOf(mod['requiredMods']).map((entry) => ({ id: oldForgeId(entry), type: 'required' as const }))
  // `dependencies` lists the mods that are loaded before, which can be absent.
  const before = listOf(mod['dependencies']).map((entry) => ({ id: oldForgeId(entry), type: 'optional' as const }))
  const isForSponge = [...required, ...before].some((entry) => entry.id.toLowerCase() === 'spongeapi')
  return compact({
    loaders: [isForSponge ? 'sponge' : 'forge'],
    id,
    number: textOf(mod['version']),
    name: textOf(mod['name']),
    gameVersions: ranges('maven', mod['mcversion']),
    dependencies: dependenciesOf([...required, ...before]),
    about: aboutOf({ summary: mod['description'], links: { site: mod['url'] }, icon: mod['logoFile'] }),
  })
}

/** Returns the value of `Implementation-Version` in `META-INF/MANIFEST.MF`. */
export function readJarVersion(text: string): string | undefined {
  return textOf(/^Implementation-Version:(.*)$/m.exec(text)?.[1]?.replace(/\r$/, ''))
}
