// Chooses the versions of a pack and stores them as its next save.
import type { Answer } from '#features/catalogue/resolve/answer.ts'
import { loaderKeyOf } from '#features/catalogue/resolve/locks/pack.ts'
import { storeLock } from '#features/catalogue/resolve/locks/store-lock.ts'
import { type ResolveDeps, resolveItems } from '#features/catalogue/resolve/resolve-items.ts'
import type { AnswerView, ItemView } from '#features/catalogue/resolve/views.ts'
import { listCachedVersions } from '#features/catalogue/versions/lookup/version-cache.ts'
import { ApiError, validationError } from '#lib/errors.ts'
import { viewOf } from '#lib/text/json-bytes.ts'
import type { Tx } from '#platform/db/db.ts'
import type { Deps } from '#ports/deps.ts'
import { listSaves, type PackRow, type SaveRow } from './queries.ts'
import { checkSetup, SAVES_MAX } from './requests.ts'

export type PackSetup = Pick<PackRow, 'name' | 'game_version' | 'loader' | 'loader_version'>
/** `projectIds`: the requested projects, each once, in their order. */
export type ResolvedPack = { answer: Answer; projectIds: string[] }

/**
 * Chooses the versions as everyone sees the catalogue. A save is complete: every project has a version, and the pack names
 * its loader.
 * @throws ApiError `validation_error` naming `projects.N`, `loader`, `loader_version` or `game_version`.
 */
export async function resolvePack(
  deps: ResolveDeps,
  projects: readonly string[],
  { name, game_version, loader, loader_version }: PackSetup,
): Promise<ResolvedPack> {
  checkSetup(deps.taxonomy, { loader, game_version })
  const answer = await resolveItems(deps, {
    items: projects.map((project) => ({ project })),
    loaders: loader === null ? [] : [loader],
    game_versions: [game_version],
    name,
    ...(loader_version === null ? {} : { loader_version }),
  })
  const { items, chosen } = JSON.parse(answer.content) as AnswerView
  const failed = items.find(({ state }) => state !== 'chosen')
  if (failed !== undefined) throw failedItem(failed)
  const isNamed = loader !== null && (loader_version !== null || loaderKeyOf(deps, [loader], 'mrpack') === undefined)
  if (!isNamed) {
    const versions = await listCachedVersions(
      deps,
      chosen.map(({ version_id }) => version_id),
    )
    if (versions.some((version) => loaderKeyOf(deps, viewOf(version).loaders, 'mrpack') !== undefined))
      throw loader === null
        ? validationError('loader', 'must be set: versions of the pack need a loader')
        : validationError('loader_version', 'must be set: launchers install the loader in this version')
    // Without its version, an .mrpack cannot name the loader, which no version needs.
    if (loader !== null) return resolvePack(deps, projects, { name, game_version, loader: null, loader_version: null })
  }
  return { answer, projectIds: [...new Set(items.flatMap(({ project_id }) => project_id ?? []))] }
}

const NO_VERSION = 'has no version for this game version and loader'
const REASONS: Readonly<Record<ItemView['state'], string>> = {
  chosen: '',
  kept: '',
  unknown: 'must be the ID or slug of a public project',
  no_version: NO_VERSION,
  missing: 'requires a project that is hidden or deleted',
  conflict: 'is incompatible with another project of the pack',
  limit: 'requires too many projects',
}

/** `reason` and `project_id` let pages name the project in their language. */
function failedItem({ index, state, project_id }: ItemView): ApiError {
  const { message, details } = validationError(`projects.${index}`, REASONS[state])
  return new ApiError('validation_error', message, { details: { ...details, reason: state, project_id } })
}

/**
 * Stores the versions as the next save of a pack that the transaction has locked. Returns the newest save if it has the
 * same versions.
 * @throws ApiError `limit_reached`.
 */
export async function writeSave(
  deps: Pick<Deps, 'now'>,
  tx: Tx,
  packId: string,
  answer: Answer,
): Promise<SaveRow & { isNew: boolean }> {
  const [newest] = await listSaves(tx, packId, 1)
  if (newest?.lock_id === answer.lock) return { ...newest, isNew: false }
  const number = (newest?.number ?? 0) + 1
  if (number > SAVES_MAX)
    throw new ApiError('limit_reached', `A pack can have at most ${SAVES_MAX} saves. Create a new pack.`)
  // Locks the row of the lock until the commit, so that the job that forgets locks sees that the save needs it.
  await storeLock({ ...deps, db: tx }, answer)
  const save = { number, lock_id: answer.lock, created: new Date(deps.now()) }
  await tx
    .insertInto('pack_save')
    .values({ pack_id: packId, ...save })
    .execute()
  return { ...save, isNew: true }
}
