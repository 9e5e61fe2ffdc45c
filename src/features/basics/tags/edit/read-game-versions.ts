// Adds the new game versions that the manifest of the game lists.
import Type, { type Static } from 'typebox'
import Value from 'typebox/value'
import type { Actor } from '#features/basics/audit/actor.ts'
import { ApiError, invalidInput } from '#lib/errors.ts'
import { MIB } from '#lib/text/sizes.ts'
import { DAY_MS } from '#lib/time.ts'
import { readJsonWithin } from '#platform/outgoing/read-json.ts'
import type { Deps } from '#ports/deps.ts'
import { type EnumValueRow, TAG_LISTS } from '#taxonomy/tag-lists.ts'
import { tagListsOf } from '#taxonomy/taxonomy-files.ts'
import { editTagList, type TagEditDeps } from './edit-tag-list.ts'
import { saveManifestFailure, saveManifestRead } from './manifest-state.ts'
import { readEditedLists } from './queries.ts'
import { nameOf } from './tag-row.ts'

/** The manifest has about 1,000 versions in 300 KiB. */
const LIMITS = { totalMs: 20_000, bytes: 8 * MIB }

type ReadDeps = TagEditDeps & Pick<Deps, 'config'>

const Manifest = Type.Object({ versions: Type.Array(Type.Unknown()) })

/** An entry of the manifest that the launcher of the game reads. */
const Entry = Type.Object({
  id: Type.String({ minLength: 1, maxLength: 64 }),
  type: Type.Enum(['release', 'snapshot', 'old_beta', 'old_alpha']),
  releaseTime: Type.String({ maxLength: 64 }),
})

const TYPES = { release: 'release', snapshot: 'snapshot', old_beta: 'beta', old_alpha: 'alpha' } as const

/**
 * Reads `GAME_VERSIONS_URL`, and stores whether that worked. Older versions and those that an operator has removed are not
 * added, so that the list stays as the operator has made it; entries that cannot be read are skipped.
 * @returns the names of the added versions, newest first.
 * @throws ApiError `invalid_input` without a manifest, and with the reason if it cannot be read.
 */
export async function readGameVersions(deps: ReadDeps, actor: Actor, signal?: AbortSignal): Promise<string[]> {
  const { versionManifestUrl: url } = deps.config
  if (url === undefined) throw invalidInput('GAME_VERSIONS_URL is not set')
  try {
    const added = newVersions(await fetchManifest(url, signal), await currentVersions(deps), deps.now())
    if (added.length > 0) {
      await editTagList(deps, actor, { list: 'game_versions', seen: undefined, field: 'rows' }, (rows) => {
        const known = new Set(rows.map(nameOf))
        return { rows: [...added.filter(({ value }) => !known.has(value)), ...rows] }
      })
    }
    await saveManifestRead(deps.db, new Date(deps.now()))
    return added.map(({ value }) => value)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    await saveManifestFailure(deps.db, new Date(deps.now()), reason)
    throw new ApiError('invalid_input', `The manifest cannot be read. ${reason}`, { cause: error })
  }
}

async function fetchManifest(url: string, signal: AbortSignal | undefined): Promise<EnumValueRow[]> {
  const manifest = await readJsonWithin(url, { limits: LIMITS, ...(signal === undefined ? {} : { signal }) })
  if (!Value.Check(Manifest, manifest))
    throw new Error('GAME_VERSIONS_URL must lead to an object with a list `versions`')
  return manifest.versions.flatMap((entry) => (Value.Check(Entry, entry) ? toRows(entry) : []))
}

type Current = { rows: readonly EnumValueRow[]; removed: ReadonlySet<string> }

async function currentVersions({ db, taxonomyData }: ReadDeps): Promise<Current> {
  const edited = (await readEditedLists(db)).game_versions
  return { rows: edited?.rows ?? tagListsOf(taxonomyData).game_versions, removed: new Set(edited?.removed) }
}

/** Returns the versions to add, newest first. @throws Error if the list has no room for them */
function newVersions(listed: readonly EnumValueRow[], { rows, removed }: Current, nowMs: number): EnumValueRow[] {
  const known = new Map(rows.map(({ value, created }) => [value, Date.parse(created)]))
  // An operator can have added a version with a later date than the manifest: those between the dates are new, too.
  const shared = listed.flatMap(({ value, created }) => {
    const time = known.get(value)
    return time === undefined ? [] : Math.min(time, Date.parse(created))
  })
  const newest = Math.max(...(shared.length === 0 ? known.values() : shared))
  // A wrong date in the future would keep out everything after it.
  const isNew = ({ value, created }: EnumValueRow) =>
    !known.has(value) && !removed.has(value) && Date.parse(created) > newest && Date.parse(created) < nowMs + DAY_MS
  const added = [...new Map(listed.filter(isNew).map((row) => [row.value, row])).values()]
  if (!Value.Check(TAG_LISTS.game_versions, [...added, ...rows]))
    throw new Error(`GAME_VERSIONS_URL has ${added.length} new versions, which is more than the list can have`)
  return added.toSorted((a, b) => b.created.localeCompare(a.created))
}

/** Returns the row of an entry; none if its date cannot be read. A release without a third number is a major version. */
function toRows({ id, type, releaseTime }: Static<typeof Entry>): EnumValueRow[] {
  const date = new Date(releaseTime)
  if (Number.isNaN(date.getTime())) return []
  const major = type === 'release' && /^\d+\.\d+$/.test(id)
  return [{ value: id, created: date.toISOString(), metadata: { type: TYPES[type], major } }]
}
