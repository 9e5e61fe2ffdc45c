// Decides who can see and change a pack. The rules are those of collections.
import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { isModerator, type Viewer } from '#features/basics/access/viewer.ts'
import { forbidden, notFound } from '#lib/errors.ts'

export const PACK_STATUSES = ['listed', 'unlisted', 'private', 'rejected'] as const
export type PackStatus = (typeof PACK_STATUSES)[number]
type PackFacts = { account_id: string; status: string }

/** Statuses of packs that everyone who has the link can see. An owner can switch between them. */
const PUBLIC_PACK_STATUSES: readonly PackStatus[] = ['listed', 'unlisted']

/** @throws ApiError 404 if the pack is hidden, 403 unless the viewer is its owner, even for moderators. */
export function requirePackOwner<Pack extends PackFacts>(viewer: Viewer, pack: Pack | undefined): Pack {
  if (pack === undefined) throw notFound('pack')
  if (viewer.id !== pack.account_id) throw forbidden('Only the owner can edit or delete a pack')
  return pack
}

/** @throws ApiError 403 for a status that only moderators set. */
export function requireOwnStatus(status: PackStatus): void {
  if (!PUBLIC_PACK_STATUSES.includes(status)) throw forbidden(`Only moderators can set the status ${status}`)
}

/**
 * The owner can change every field; a moderator can change the status only.
 * @throws ApiError 404 if the pack is hidden, 403.
 */
export function requirePackPatch<Pack extends PackFacts>(
  viewer: Viewer,
  pack: Pack | undefined,
  patch: { status?: PackStatus | null },
): Pack {
  const { status = null, ...others } = patch
  const isStatusOnly = status !== null && Object.values(others).every((value) => value === undefined)
  const row = isStatusOnly && isModerator(viewer) && pack !== undefined ? pack : requirePackOwner(viewer, pack)
  if (status === null || isModerator(viewer)) return row
  requireOwnStatus(status)
  if (!PUBLIC_PACK_STATUSES.some((known) => known === row.status))
    throw forbidden(`Only moderators can change the status of a pack from ${row.status}`)
  return row
}

/** Accounts that wait for their deletion, or whose content a cleanup removes, have no public packs. */
const OWNER_IS_PUBLIC = sql<SqlBool>`not exists (select from account
    where account.id = pack.account_id and account.deletion_due is not null)
  and not exists (select from cleaned_account join account_cleanup on account_cleanup.id = cleaned_account.cleanup_id
    where cleaned_account.account_id = pack.account_id and account_cleanup.action <> 'suspend')`

/** SQL condition for packs that the viewer can see by their address: public ones and their own; all for moderators. */
export function packVisibleTo(viewer: Viewer | null): RawBuilder<SqlBool> {
  return withStatusOrOwn(viewer, PUBLIC_PACK_STATUSES)
}

/** SQL condition for packs that a user's list shows to the viewer: without unlisted ones of other users. */
export function packListedFor(viewer: Viewer | null): RawBuilder<SqlBool> {
  return withStatusOrOwn(viewer, ['listed'])
}

function withStatusOrOwn(viewer: Viewer | null, statuses: readonly PackStatus[]): RawBuilder<SqlBool> {
  if (isModerator(viewer)) return sql<SqlBool>`true`
  const open = sql<SqlBool>`(pack.status = any(${[...statuses]}::text[]) and ${OWNER_IS_PUBLIC})`
  return viewer === null ? open : sql<SqlBool>`(${open} or pack.account_id = ${viewer.id})`
}
