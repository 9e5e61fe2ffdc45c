import type { Actor } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { type HostedImage, imageKeys, toHostedImage, withStoredImages } from '#features/basics/images/hosted-image.ts'
import { removeImages } from '#features/basics/images/icons.ts'
import { newId } from '#lib/ids.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'
import { dropClaims } from '#ports/files/claims.ts'
import { SETTINGS_ID } from './settings-cache.ts'

/** Maximum size of a logo. */
export const MARK_BYTES_MAX = 262_144

/**
 * Stores a logo with its copies, makes it the logo of the instance, and then removes the files of the previous one.
 * @throws ApiError `invalid_input` naming `mark` or `ext`, `file_hosting_error`.
 */
export async function setMark(deps: Deps, actor: Actor, { bytes, ext }: { bytes: Buffer; ext: string }): Promise<void> {
  const processed = await deps.images.processMark(bytes, ext)
  // Each upload has a separate folder, so that concurrent uploads of the same image share no file.
  const mark = toHostedImage(processed, `mark-${newId()}`)
  await withStoredImages(deps, { images: mark.stored }, (keys) => replaceMark(deps, actor, mark, keys))
}

/** Saves the keys of a logo, or resets it to the default; the files `claimed` then belong to the row. */
export async function replaceMark(
  deps: Pick<Deps, 'db' | 'cache' | 'config' | 'now'>,
  actor: Actor,
  mark: Pick<HostedImage, 'key' | 'rawKey' | 'copyWidths'> | null,
  claimed: readonly string[] = [],
): Promise<void> {
  await transaction(deps, async (tx, changed) => {
    await dropClaims(tx, claimed)
    const values = {
      mark_url: mark?.key ?? null,
      raw_mark_url: mark?.rawKey ?? null,
      mark_widths: mark?.copyWidths ?? [],
      changed: new Date(deps.now()),
    }
    // Creates the row first, so that concurrent changes lock it and each sees the previous logo.
    await tx
      .insertInto('instance_settings')
      .values({ changed: values.changed })
      .onConflict((conflict) => conflict.doNothing())
      .execute()
    const before = await tx.selectFrom('instance_settings').selectAll().forUpdate().executeTakeFirstOrThrow()
    if (mark === null && before.raw_mark_url === null) return
    await tx.updateTable('instance_settings').set(values).execute()
    if (before.mark_url !== null && before.raw_mark_url !== null) {
      const { mark_url: url, raw_mark_url: raw_url, mark_widths: copy_widths } = before
      await removeImages(tx, imageKeys({ url, raw_url, copy_widths }))
    }
    await recordAudit(tx, {
      action: 'settings.changed',
      actor,
      details: { fields: ['mark'], mark: values.raw_mark_url },
    })
    changed.add('settings', SETTINGS_ID)
  })
}
