// The file that loaders with an update checker of their own read: for each game version the newest version, and the
// newest release.
import { invalidInput } from '#lib/errors.ts'
import type { Taxonomy } from '#platform/taxonomy/taxonomy.ts'
import type { VersionCoordinates } from './queries.ts'

const CHOICES = ['only', 'include', 'none']

/**
 * The loaders that `{loader}_updates.json` speaks for: its own, and, by a query key with the name of another loader,
 * that one as well (`include`) or instead (`only`). Undefined when the file is of no known loader.
 * @throws ApiError `invalid_input` when such a key has another value.
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

/** `versions` in the order of the project's list; of each game version and kind the first that has it counts. */
export function promotions(
  versions: readonly VersionCoordinates[],
  loaders: readonly string[],
): Record<string, string> {
  const promos = new Map<string, string>()
  for (const version of versions) {
    if (!version.loaders.some((loader) => loaders.includes(loader))) continue
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
