// Builds the file that a loader's update checker reads: the newest version and the newest release per game version.

import Type from 'typebox'
import { invalidInput } from '#lib/errors.ts'
import { NamedObject } from '#lib/schema/schema-parts.ts'
import type { Taxonomy } from '#taxonomy/taxonomy.ts'
import type { VersionCoordinates } from './queries.ts'

/** Response schema of an update file. */
export const UpdateFileView = NamedObject('UpdateFile', {
  homepage: Type.String(),
  promos: Type.Record(Type.String(), Type.String()),
})

const CHOICES = ['only', 'include', 'none']

/**
 * Returns the loaders that `{loader}_updates.json` covers: the loader itself, and others that the query adds (`include`)
 * or uses instead (`only`). Undefined if the loader is unknown.
 * @throws ApiError `invalid_input` if such a parameter has another value.
 */
export function loadersOfUpdateFile(
  taxonomy: Taxonomy,
  file: string,
  query: Readonly<Record<string, string>>,
): string[] | undefined {
  const loader = /^(.+)_updates\.json$/.exec(file)?.[1]
  if (loader === undefined || !taxonomy.loaders.has(loader)) return undefined
  const others = Object.entries(query).filter(([name]) => taxonomy.loaders.has(name) && name !== loader)
  const wrong = others.find(([, choice]) => !CHOICES.includes(choice))
  if (wrong !== undefined) throw invalidInput(`${wrong[0]} must be one of ${CHOICES.join(', ')}`, wrong[0])
  const only = others.filter(([, choice]) => choice === 'only').map(([name]) => name)
  const included = others.filter(([, choice]) => choice === 'include').map(([name]) => name)
  return [...(only.length > 0 ? only : [loader]), ...included]
}

/** Maps each game version and kind to the first matching version number. `versions` must be in list order. */
export function promotions(
  versions: readonly VersionCoordinates[],
  loaders: readonly string[],
): Record<string, string> {
  const promos = new Map<string, string>()
  for (const version of versions) {
    if (version.is_withdrawn || !version.loaders.some((loader) => loaders.includes(loader))) continue
    for (const gameVersion of version.game_versions) {
      const kinds = version.version_type === 'release' ? ['recommended', 'latest'] : ['latest']
      for (const kind of kinds) {
        const key = `${gameVersion}-${kind}`
        if (!promos.has(key)) promos.set(key, version.version_number)
      }
    }
  }
  return Object.fromEntries(promos)
}
