import { requireApproved, requireVerifiedEmail } from '#features/basics/access/email-policy.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { actorOf } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { requireRoom } from '#features/basics/limits/quota.ts'
import { slugsOf } from '#features/catalogue/projects/similar/suggest-slug.ts'
import { ApiError, accountDeleted } from '#lib/errors.ts'
import { newId } from '#lib/ids.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Tx } from '#platform/db/db.ts'
import type { Deps } from '#ports/deps.ts'
import { requireOwnStatus } from './policy.ts'
import { announcePack, replacePackProjects } from './queries.ts'
import { checkPackName, PACKS_MAX, type PackInput } from './requests.ts'
import { resolvePack, writeSave } from './resolve-pack.ts'

/**
 * Creates a pack with its first save and returns its ID.
 * @throws ApiError 401 if the account was deleted in the meantime, 403 without a verified email address or approval,
 * `limit_reached`, `conflict` for a taken slug, `validation_error` naming a field.
 */
export async function createPack(deps: Deps, viewer: Viewer, input: PackInput): Promise<string> {
  requireVerifiedEmail(deps, viewer)
  const { game_version, loader = null, loader_version = null, status = null } = input
  if (status !== null) requireOwnStatus(status)
  const setup = { name: checkPackName(input.name), game_version, loader, loader_version }
  const { answer, projectIds } = await resolvePack(deps, input.projects, setup)
  const id = newId()
  const created = new Date(deps.now())
  await transaction(deps, async (tx, changed) => {
    await requirePackRoom(tx, viewer)
    const slug = await chooseSlug(tx, viewer.id, setup.name, input.slug)
    const dates = { created, updated: created }
    await tx
      .insertInto('pack')
      .values({ id, account_id: viewer.id, slug, status: status ?? 'listed', ...setup, ...dates })
      .execute()
    await replacePackProjects(tx, id, projectIds)
    await writeSave(deps, tx, id, answer)
    await recordAudit(tx, { action: 'pack.created', actor: actorOf(viewer), subject: { kind: 'pack', id } })
    announcePack(changed, { account_id: viewer.id })
  })
  return id
}

/** Locks the account, so that concurrent creations count each other and cannot choose the same slug. */
async function requirePackRoom(tx: Tx, viewer: Viewer): Promise<void> {
  const account = await tx
    .selectFrom('account')
    .select('awaits_approval')
    .where('id', '=', viewer.id)
    .forNoKeyUpdate()
    .executeTakeFirst()
  if (account === undefined) throw accountDeleted()
  requireApproved({ ...viewer, awaitsApproval: account.awaits_approval })
  await requireRoom(tx, viewer.id, { table: 'pack', max: PACKS_MAX, things: 'packs' })
}

async function chooseSlug(tx: Tx, accountId: string, name: string, given: string | null | undefined): Promise<string> {
  const candidates = given == null ? slugsOf(name, 'pack') : [given.toLowerCase()]
  const rows = await tx
    .selectFrom('pack')
    .select('slug')
    .where('account_id', '=', accountId)
    .where('slug', 'in', candidates)
    .execute()
  const taken = new Set(rows.map(({ slug }) => slug))
  const free = candidates.find((slug) => !taken.has(slug))
  if (free === undefined) throw slugTaken(candidates[0] ?? '')
  return free
}

export function slugTaken(slug: string): ApiError {
  return new ApiError('conflict', `You have a pack with the slug ${slug} already`, { details: { field: 'slug' } })
}
