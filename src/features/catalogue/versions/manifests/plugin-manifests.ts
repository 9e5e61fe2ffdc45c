// Reads the manifests of plugins: plugin.yml, paper-plugin.yml, bungee.yml and velocity-plugin.json.

import { aboutOf } from './about.ts'
import { compact, dependenciesOf, type Fields, fieldsOf, idOf, listOf, textOf } from './manifest.ts'
import type { Content } from './mod-manifests.ts'

/** Words of YAML 1.1, which the servers read, in any case. */
const isTrue = (value: unknown): boolean => /^(?:true|yes|on)$/i.test(textOf(value) ?? '')
const isFalse = (value: unknown): boolean => /^(?:false|no|off)$/i.test(textOf(value) ?? '')

const named = (names: unknown, type: 'required' | 'optional') => listOf(names).map((id) => ({ id, type }))

/** `api-version` is the oldest version that the plugin was written for. Newer servers run it. */
function minimumVersion(value: unknown): Content['gameVersions'] {
  const version = textOf(value)
  return version === undefined ? undefined : { form: 'minimum', ranges: [version] }
}

/**
 * Returns the content of a manifest whose plugin has an ID. All manifests have the same fields for its number, its name and
 * its description. The key of its web site is `website`, and `url` for Velocity.
 */
function contentOf(
  plugin: Fields,
  declaredId: unknown,
  rest: Pick<Content, 'loaders' | 'dependencies'> & { gameVersions?: Content['gameVersions'] },
): Content | undefined {
  const id = idOf(declaredId)
  if (id === undefined) return undefined
  const about = aboutOf({ summary: plugin['description'], links: { site: plugin['website'] ?? plugin['url'] } })
  return compact({ id, number: textOf(plugin['version']), name: textOf(plugin['name']), about, ...rest })
}

export function readBukkit(data: unknown): Content | undefined {
  const plugin = fieldsOf(data)
  const isForFolia = isTrue(plugin['folia-supported'])
  return contentOf(plugin, plugin['name'], {
    loaders: ['bukkit', 'spigot', 'paper', 'purpur', ...(isForFolia ? ['folia'] : [])],
    gameVersions: minimumVersion(plugin['api-version']),
    dependencies: dependenciesOf([...named(plugin['depend'], 'required'), ...named(plugin['softdepend'], 'optional')]),
  })
}

export function readPaper(data: unknown): Content | undefined {
  const plugin = fieldsOf(data)
  const phases = fieldsOf(plugin['dependencies'])
  const declared = [...Object.entries(fieldsOf(phases['server'])), ...Object.entries(fieldsOf(phases['bootstrap']))]
  return contentOf(plugin, plugin['name'], {
    loaders: ['paper', 'purpur', ...(isTrue(plugin['folia-supported']) ? ['folia'] : [])],
    gameVersions: minimumVersion(plugin['api-version']),
    dependencies: dependenciesOf(
      declared.map(([id, terms]) => ({
        id,
        type: isFalse(fieldsOf(terms)['required']) ? ('optional' as const) : ('required' as const),
      })),
    ),
  })
}

export function readBungee(data: unknown): Content | undefined {
  const plugin = fieldsOf(data)
  return contentOf(plugin, plugin['name'], {
    loaders: ['bungeecord', 'waterfall'],
    dependencies: dependenciesOf([
      ...named(plugin['depends'], 'required'),
      ...named(plugin['softDepends'], 'optional'),
    ]),
  })
}

export function readVelocity(data: unknown): Content | undefined {
  const plugin = fieldsOf(data)
  return contentOf(plugin, plugin['id'], {
    loaders: ['velocity'],
    dependencies: dependenciesOf(
      listOf(plugin['dependencies']).map((entry) => ({
        id: fieldsOf(entry)['id'],
        type: fieldsOf(entry)['optional'] === true ? ('optional' as const) : ('required' as const),
      })),
    ),
  })
}
