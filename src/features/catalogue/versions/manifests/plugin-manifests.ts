// Reads the manifests of plugins: plugin.yml, paper-plugin.yml, bungee.yml and velocity-plugin.json.

import { compact, dependenciesOf, fieldsOf, idOf, listOf, textOf } from './manifest.ts'
import type { Content } from './mod-manifests.ts'

const named = (names: unknown, type: 'required' | 'optional') => listOf(names).map((id) => ({ id, type }))

/** `api-version` is the oldest version that the plugin was written for. Newer servers run it. */
function minimumVersion(value: unknown): Content['gameVersions'] {
  const version = textOf(value)
  return version === undefined ? undefined : { form: 'minimum', ranges: [version] }
}

export function readBukkit(data: unknown): Content | undefined {
  const plugin = fieldsOf(data)
  const id = idOf(plugin['name'])
  if (id === undefined) return undefined
  const isForFolia = plugin['folia-supported'] === true
  return compact({
    loaders: ['bukkit', 'spigot', 'paper', 'purpur', ...(isForFolia ? ['folia'] : [])],
    id,
    number: textOf(plugin['version']),
    name: textOf(plugin['name']),
    gameVersions: minimumVersion(plugin['api-version']),
    dependencies: dependenciesOf([...named(plugin['depend'], 'required'), ...named(plugin['softdepend'], 'optional')]),
  })
}

export function readPaper(data: unknown): Content | undefined {
  const plugin = fieldsOf(data)
  const id = idOf(plugin['name'])
  if (id === undefined) return undefined
  const phases = fieldsOf(plugin['dependencies'])
  const declared = [...Object.entries(fieldsOf(phases['server'])), ...Object.entries(fieldsOf(phases['bootstrap']))]
  return compact({
    loaders: ['paper', 'purpur', ...(plugin['folia-supported'] === true ? ['folia'] : [])],
    id,
    number: textOf(plugin['version']),
    name: textOf(plugin['name']),
    gameVersions: minimumVersion(plugin['api-version']),
    dependencies: dependenciesOf(
      declared.map(([id, terms]) => ({
        id,
        type: fieldsOf(terms)['required'] === false ? ('optional' as const) : ('required' as const),
      })),
    ),
  })
}

export function readBungee(data: unknown): Content | undefined {
  const plugin = fieldsOf(data)
  const id = idOf(plugin['name'])
  if (id === undefined) return undefined
  return compact({
    loaders: ['bungeecord', 'waterfall'],
    id,
    number: textOf(plugin['version']),
    name: textOf(plugin['name']),
    dependencies: dependenciesOf([
      ...named(plugin['depends'], 'required'),
      ...named(plugin['softDepends'], 'optional'),
    ]),
  })
}

export function readVelocity(data: unknown): Content | undefined {
  const plugin = fieldsOf(data)
  const id = idOf(plugin['id'])
  if (id === undefined) return undefined
  return compact({
    loaders: ['velocity'],
    id,
    number: textOf(plugin['version']),
    name: textOf(plugin['name']),
    dependencies: dependenciesOf(
      listOf(plugin['dependencies']).map((entry) => ({
        id: fieldsOf(entry)['id'],
        type: fieldsOf(entry)['optional'] === true ? ('optional' as const) : ('required' as const),
      })),
    ),
  })
}
