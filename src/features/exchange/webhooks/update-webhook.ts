// Creates, edits and deletes webhooks, and renews their secrets.
import { sql, type Updateable } from 'kysely'
import { requireVerifiedEmail } from '#features/basics/access/email-policy.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import type { AuditAction } from '#features/basics/audit/actions.ts'
import { actorOf } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { ApiError, notFound } from '#lib/errors.ts'
import { newId } from '#lib/ids.ts'
import { DAY_MS, HOUR_MS } from '#lib/time.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Tx } from '#platform/db/db.ts'
import type { Webhook } from '#platform/db/schema.ts'
import type { Deps } from '#ports/deps.ts'
import { checkUrl } from './address.ts'
import { discardQueued } from './deliveries/queries.ts'
import { getNewOwner, getWebhook, ownerIdOf } from './owner.ts'
import {
  countWebhooksBy,
  listWebhooksOf,
  lockCreation,
  lockWebhook,
  type OwnerColumns,
  type WebhookRow,
} from './queries.ts'
import {
  checkEvents,
  checkLoaders,
  type NewWebhook,
  type OwnerKind,
  type WebhookFormat,
  type WebhookPatch,
} from './requests.ts'
import { makeSecret } from './secrets.ts'

export const WEBHOOKS_MAX = { perOwner: 20, perAccount: 50 } as const
/** Deliveries that are older are not worth sending when a webhook is switched on again. */
const STALE_MS = DAY_MS

/**
 * Creates a webhook and returns its secret, which is not shown again.
 * @throws ApiError 403, 400 naming the field, `limit_reached`.
 */
export async function createWebhook(
  deps: Deps,
  viewer: Viewer,
  body: NewWebhook,
): Promise<{ row: WebhookRow; secret: string }> {
  requireVerifiedEmail(deps, viewer)
  const owner = await getNewOwner(deps, viewer, body.owner)
  const format = body.format ?? 'standard'
  const columns = {
    ...checkUrl(deps.config, body.url, format),
    format,
    events: checkEvents(body.events, body.owner.kind),
    loaders: checkLoaders(body.loaders ?? [], deps.taxonomy),
    game_versions: [...new Set(body.game_versions)],
    version_types: [...new Set(body.version_types)],
  }
  const id = newId()
  const { secret, sealed } = await makeSecret(deps, id)
  const row = await transaction(deps, async (tx) => {
    await lockCreation(tx)
    await requireRoom(tx, viewer, owner)
    const started = { created: new Date(deps.now()), after_event: LAST_EVENT }
    const values = { ...owner, ...columns, id, created_by: viewer.id, secret: sealed, ...started }
    const made = await tx.insertInto('webhook').values(values).returningAll().executeTakeFirstOrThrow()
    await recordWebhook(tx, viewer, made, { action: 'webhook.created', details: { events: columns.events } })
    return made
  })
  return { row, secret }
}

async function requireRoom(tx: Tx, viewer: Viewer, owner: OwnerColumns): Promise<void> {
  if ((await listWebhooksOf(tx, owner)).length >= WEBHOOKS_MAX.perOwner)
    throw tooMany(`There can be at most ${WEBHOOKS_MAX.perOwner} webhooks here`, WEBHOOKS_MAX.perOwner)
  if ((await countWebhooksBy(tx, viewer.id)) >= WEBHOOKS_MAX.perAccount)
    throw tooMany(`You can create at most ${WEBHOOKS_MAX.perAccount} webhooks`, WEBHOOKS_MAX.perAccount)
}

function tooMany(sentence: string, max: number): ApiError {
  return new ApiError('limit_reached', `${sentence}. Delete one first.`, { details: { kind: 'webhooks', max } })
}

/** The log never has the URL, which can contain a secret of the receiver. */
async function recordWebhook(
  tx: Tx,
  viewer: Viewer,
  row: WebhookRow,
  { action, details }: { action: AuditAction; details: Record<string, string | readonly string[]> },
): Promise<void> {
  const owner = { owner: row.owner_kind, owner_id: row.account_id === null ? ownerIdOf(row) : null }
  await recordAudit(tx, {
    action,
    actor: actorOf(viewer),
    subject: { kind: 'webhook', id: row.id },
    accountIds: row.account_id === null ? [] : [row.account_id],
    details: { ...owner, host: row.host, ...details },
  })
}

/**
 * Edits a webhook. A webhook that is switched on again starts without its earlier failures.
 * @throws ApiError 404, 400 naming the field, `conflict` for a webhook whose secret is lost.
 */
export async function updateWebhook(
  deps: Deps,
  viewer: Viewer,
  { id, patch }: { id: string; patch: WebhookPatch },
): Promise<void> {
  await getWebhook(deps, viewer, id)
  await transaction(deps, async (tx) => {
    const row = await lockWebhook(tx, id)
    if (row === undefined) throw notFound('webhook')
    const update = updateOf(deps, row, patch)
    // The user who switches a webhook on answers for it from now on.
    if (update.active === true && row.disabled_reason === 'access_lost') update.created_by = viewer.id
    if (Object.keys(update).length === 0) return
    const begins = update.active === true ? { after_event: LAST_EVENT } : {}
    await tx
      .updateTable('webhook')
      .set({ ...update, ...begins })
      .where('id', '=', id)
      .execute()
    if (update.active === true) await discardQueued(tx, id, new Date(deps.now() - STALE_MS))
    await recordWebhook(tx, viewer, row, { action: 'webhook.changed', details: { fields: Object.keys(patch) } })
  })
}

function updateOf(deps: Pick<Deps, 'config' | 'taxonomy'>, row: WebhookRow, patch: WebhookPatch): Updateable<Webhook> {
  const { url, format, events, loaders, game_versions, version_types, active } = patch
  const update: Updateable<Webhook> = {}
  if (url !== undefined || format !== undefined) {
    const nextFormat = format ?? (row.format as WebhookFormat)
    Object.assign(update, checkUrl(deps.config, url ?? row.url, nextFormat), { format: nextFormat })
  }
  if (events !== undefined) update.events = checkEvents(events, row.owner_kind as OwnerKind)
  if (loaders !== undefined) update.loaders = checkLoaders(loaders, deps.taxonomy)
  if (game_versions !== undefined) update.game_versions = [...new Set(game_versions)]
  if (version_types !== undefined) update.version_types = [...new Set(version_types)]
  if (active === undefined || active === row.active) return update
  if (active && row.disabled_reason === 'secret_lost') {
    throw new ApiError('conflict', 'The secret of this webhook is lost. Rotate it to switch the webhook on.', {
      details: { field: 'active', message: 'needs a new secret first' },
    })
  }
  const disabled = { active: false, disabled_reason: 'owner' } as const
  return { ...update, ...(active ? FRESH : disabled) }
}

/** SQL expression: the last event that happened. Its deliveries can still be missing. */
const LAST_EVENT = sql<number>`(select coalesce(max(id), 0) from event)`

/** Columns of a webhook without known failures. */
const FRESH = { active: true, disabled_reason: null, failing_since: null, failures: 0 } as const

/** Deletes a webhook with its deliveries. @throws ApiError 404. */
export async function deleteWebhook(deps: Deps, viewer: Viewer, id: string): Promise<void> {
  await getWebhook(deps, viewer, id)
  await transaction(deps, async (tx) => {
    const row = await tx.deleteFrom('webhook').where('id', '=', id).returningAll().executeTakeFirst()
    if (row === undefined) throw notFound('webhook')
    await recordWebhook(tx, viewer, row, { action: 'webhook.deleted', details: {} })
  })
}

/**
 * Renews the secret and returns it. The previous one also signs until the overlap ends. A webhook whose secret was lost is
 * switched on again.
 * @throws ApiError 404.
 */
export async function rotateSecret(
  deps: Deps,
  viewer: Viewer,
  { id, overlapHours }: { id: string; overlapHours: number },
): Promise<string> {
  await getWebhook(deps, viewer, id)
  const { secret, sealed } = await makeSecret(deps, id)
  await transaction(deps, async (tx) => {
    const row = await lockWebhook(tx, id)
    if (row === undefined) throw notFound('webhook')
    const isLost = row.disabled_reason === 'secret_lost'
    const keeps = overlapHours > 0 && !isLost
    await tx
      .updateTable('webhook')
      .set({
        secret: sealed,
        previous_secret: keeps ? row.secret : null,
        previous_until: keeps ? new Date(deps.now() + overlapHours * HOUR_MS) : null,
        ...(isLost ? { ...FRESH, after_event: LAST_EVENT } : {}),
      })
      .where('id', '=', id)
      .execute()
    if (isLost) await discardQueued(tx, id, new Date(deps.now() - STALE_MS))
    await recordWebhook(tx, viewer, row, { action: 'webhook.changed', details: { fields: ['secret'] } })
  })
  return secret
}
