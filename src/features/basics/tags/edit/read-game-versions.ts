// Adds the game versions that the manifest of the game lists and that are newer than all versions of the list.
import Type, { type Static } from 'typebox'
import Value from 'typebox/value'
import { SYSTEM } from '#features/basics/audit/actor.ts'
import { MIB } from '#lib/text/sizes.ts'
import { DAY_MS } from '#lib/time.ts'
import { readJsonWithin } from '#platform/outgoing/read-json.ts'
import type { Deps } from '#ports/deps.ts'
import { type EnumValueRow, TAG_LISTS } from '#taxonomy/tag-lists.ts'
import { tagListsOf } from '#taxonomy/taxonomy-files.ts'
import type { TagEditDeps } from './edit-tag-list.ts'
import { readEditedLists } from './queries.ts'
import { updateTagList } from './update-tag-list.ts'

/** The manifest has about 1,000 versions in 300 KiB. */
const LIMITS = { totalMs: 60_000, bytes: 8 * MIB }

const Manifest = Type.Object({ versions: Type.Array(Type.Unknown()) })

/** An entry of the manifest that the launcher of the game reads. */
const Entry = Type.Object({
  id: Type.String({ minLength: 1, maxLength: 64 }),
  type: Type.Enum(['release', 'snapshot', 'old_beta', 'old_alpha']),
  releaseTime: Type.String({ maxLength: 64 }),
})

const TYPES = { release: 'release', snapshot: 'snapshot', old_beta: 'beta', old_alpha: 'alpha' } as const

/**
 * Reads `GAME_VERSIONS_URL`. Older versions are not added, so that the list stays as the operator has made it; entries that
 * cannot be read are skipped.
 * @returns the names of the added versions.
 * @throws Error if the service does not respond with a manifest, ApiError `conflict` if an operator has edited the list.
 */
export async function readGameVersions(
  deps: TagEditDeps & Pick<Deps, 'config'>,
  signal: AbortSignal,
): Promise<string[]> {
  const { db, config, now, taxonomyData } = deps
  if (config.versionManifestUrl === undefined) return []
  const manifest = await readJsonWithin(config.versionManifestUrl, { limits: LIMITS, signal })
  if (!Value.Check(Manifest, manifest))
    throw new Error('GAME_VERSIONS_URL must lead to an object with a list `versions`')
  const edited = (await readEditedLists(db)).game_versions
  const rows = edited?.rows ?? tagListsOf(taxonomyData).game_versions
  const known = new Set(rows.map(({ value }) => value))
  const newest = Math.max(...rows.map(({ created }) => Date.parse(created)))
  // A wrong date in the future would keep out everything after it.
  const isNew = ({ value, created }: EnumValueRow) =>
    !known.has(value) && Date.parse(created) > newest && Date.parse(created) < now() + DAY_MS
  const listed = manifest.versions.flatMap((entry) => (Value.Check(Entry, entry) ? toRows(entry) : []))
  const added = [...new Map(listed.filter(isNew).map((row) => [row.value, row])).values()]
  if (added.length === 0) return []
  const newestFirst = added.toSorted((a, b) => b.created.localeCompare(a.created))
  const next = [...newestFirst, ...rows]
  if (!Value.Check(TAG_LISTS.game_versions, next))
    throw new Error(`GAME_VERSIONS_URL has ${added.length} new versions, which is more than the list can have`)
  await updateTagList(deps, SYSTEM, { list: 'game_versions', rows: next, seen: edited?.revision ?? 0 })
  return newestFirst.map(({ value }) => value)
}

/** Returns the row of an entry; none if its date cannot be read. A release without a third number is a major version. */
function toRows({ id, type, releaseTime }: Static<typeof Entry>): EnumValueRow[] {
  const date = new Date(releaseTime)
  if (Number.isNaN(date.getTime())) return []
  const major = type === 'release' && /^\d+\.\d+$/.test(id)
  return [{ value: id, created: date.toISOString(), metadata: { type: TYPES[type], major } }]
}
