// Time played, as launchers report it: seconds by version.

import { filterVisibleVersions } from '#features/catalogue/versions/lookup/version-cache.ts'
import type { Viewer } from '#lib/access/viewer.ts'
import { validationError } from '#lib/errors.ts'
import { isIdForm } from '#lib/ids.ts'
import { HOUR_MS } from '#lib/time.ts'
import type { Deps } from '#ports/deps.ts'
import { listPlayedVersions, type PlayedVersion } from '../queries.ts'
import type { PlaytimeEntry } from '../requests.ts'

const ENTRIES_MAX = 2_000
/** An entry with more is not credible. */
const ENTRY_SECONDS_MAX = 300
/** What one account can add in a clock hour: four hours, for those who play several things at once. */
const PER_HOUR = { max: 14_400, spanMs: HOUR_MS }

type PlaytimeDeps = Pick<Deps, 'db' | 'counters' | 'events' | 'now'>

/**
 * Records what counts of it and leaves the rest out: unknown and hidden versions, entries of more than 300 seconds, and
 * what an account has beyond 14,400 seconds in a clock hour, in the order of the body.
 * @throws ApiError `validation_error` for more than 2000 entries and for keys that are no IDs.
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
  const found = await filterVisibleVersions(deps.db, viewer, await listPlayedVersions(deps.db, ids))
  const versions = new Map(found.map((version) => [version.id, version]))
  const nowMs = Math.floor(deps.now())
  for (const [id, entry] of credible) {
    const version = versions.get(id)
    if (version === undefined) continue
    const hour = `playtime:${viewer.id}:${Math.floor(nowMs / HOUR_MS)}`
    const seconds = await deps.counters.spend(hour, entry.seconds, PER_HOUR)
    if (seconds === 0) continue
    add(deps, version, { ...entry, seconds, recorded_at: nowMs })
    const bundle = entry.parent === undefined ? undefined : versions.get(entry.parent)
    // What is played as part of a bundle is played time of the bundle too, unless both are of one project.
    if (bundle !== undefined && bundle.project.id !== version.project.id) {
      add(deps, bundle, { ...entry, seconds, recorded_at: nowMs })
    }
  }
}

function add({ events }: PlaytimeDeps, version: PlayedVersion, played: PlaytimeEntry & { recorded_at: number }): void {
  const { loader = '', game_version = '', seconds, recorded_at } = played
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
  if (entries.length > ENTRIES_MAX) throw validationError('body', `may have at most ${ENTRIES_MAX} entries`)
  for (const [id, { parent }] of entries) {
    if (!isIdForm(id)) throw validationError(id.slice(0, 64), 'is not a version ID')
    if (parent !== undefined && !isIdForm(parent)) throw validationError(`${id}.parent`, 'is not a version ID')
  }
}
