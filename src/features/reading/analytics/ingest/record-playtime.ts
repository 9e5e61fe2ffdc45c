// Records the playtime that launchers report: seconds per version.

import type { Viewer } from '#features/basics/access/viewer.ts'
import { filterVisibleVersions } from '#features/catalogue/versions/lookup/version-cache.ts'
import { validationError } from '#lib/errors.ts'
import { isIdForm } from '#lib/ids.ts'
import { HOUR_MS } from '#lib/time.ts'
import type { Deps } from '#ports/deps.ts'
import { listPlayedVersions, type PlayedVersion } from '../queries.ts'
import type { PlaytimeEntry } from '../requests.ts'

const ENTRIES_MAX = 2_000
/** Maximum credible number of seconds in one entry. */
const ENTRY_SECONDS_MAX = 300
/** Seconds that one account can add per clock hour: four hours, because a user can run several games in parallel. */
const PER_HOUR = { max: 14_400, spanMs: HOUR_MS }

type PlaytimeDeps = Pick<Deps, 'db' | 'counters' | 'events' | 'now'>

/**
 * Records the entries in the order of the body. Ignores unknown and hidden versions, entries of more than 300 seconds,
 * and all playtime beyond 14,400 seconds per account and clock hour.
 * @throws ApiError `validation_error` for more than 2,000 entries and for keys that are not IDs.
 */
export async function recordPlaytime(
  deps: PlaytimeDeps,
  viewer: Viewer,
  body: Readonly<Record<string, PlaytimeEntry>>,
): Promise<void> {
  const entries = Object.entries(body)
  checkEntries(entries)
  const credible = entries.filter(([, { seconds }]) => seconds <= ENTRY_SECONDS_MAX)
  const parents = credible.flatMap(([, { parent }]) => parent ?? [])
  const ids = [...new Set([...credible.map(([id]) => id), ...parents])]
  const visible = await filterVisibleVersions(deps.db, viewer, await listPlayedVersions(deps.db, ids))
  const versions = new Map(visible.map((version) => [version.id, version]))
  const nowMs = Math.floor(deps.now())
  for (const [id, entry] of credible) {
    const version = versions.get(id)
    if (version === undefined) continue
    const hour = `playtime:${viewer.id}:${Math.floor(nowMs / HOUR_MS)}`
    const seconds = await deps.counters.spend(hour, entry.seconds, PER_HOUR)
    if (seconds === 0) continue
    addPlaytime(deps, version, { ...entry, seconds, recorded_at: nowMs })
    const modpack = entry.parent === undefined ? undefined : versions.get(entry.parent)
    // Playtime also counts for the modpack that contains the version, unless both belong to the same project.
    if (modpack !== undefined && modpack.project.id !== version.project.id)
      addPlaytime(deps, modpack, { ...entry, seconds, recorded_at: nowMs })
  }
}

function addPlaytime(
  { events }: PlaytimeDeps,
  version: PlayedVersion,
  { loader = '', game_version = '', seconds, recorded_at }: PlaytimeEntry & { recorded_at: number },
): void {
  const isKnown = loader === '' || version.project_loaders.includes(loader)
  events.add('playtime', {
    recorded_at,
    project_id: version.project.id,
    version_id: version.id,
    loader: isKnown ? loader : 'unknown',
    game_version,
    seconds,
  })
}

function checkEntries(entries: readonly [id: string, entry: PlaytimeEntry][]): void {
  if (entries.length > ENTRIES_MAX) throw validationError('body', `must have at most ${ENTRIES_MAX} entries`)
  for (const [id, { parent }] of entries) {
    if (!isIdForm(id)) throw validationError(id.slice(0, 64), 'is not a version ID')
    if (parent !== undefined && !isIdForm(parent)) throw validationError(`${id}.parent`, 'is not a version ID')
  }
}
