// The picture that stands for the instance.

import type { Actor } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { type HostedImage, imageUrls, storeImageFiles, toHostedImage } from '#features/basics/images/hosted-image.ts'
import { removeImages } from '#features/basics/images/icons.ts'
import { newId } from '#lib/ids.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'
import { dropClaims, withClaims } from '#ports/files/claims.ts'
import { SETTINGS_ID } from './settings-cache.ts'

/** The largest picture taken. */
export const MARK_BYTES_MAX = 262_144

/**
 * Stores the picture with its copies and puts it in the place of the one before, whose files are removed after that.
 * @throws ApiError `invalid_input` naming `mark` or `ext`, `file_hosting_error`.
 */
export async function setMark(deps: Deps, actor: Actor, { bytes, ext }: { bytes: Buffer; ext: string }): Promise<void> {
  const processed = await deps.images.processMark(bytes, ext)
  // A folder for each upload, so that parallel uploads of one picture share no file.
  const mark = toHostedImage(deps.config, processed, `mark-${newId()}`)
  const keys = mark.stored.map(({ key }) => key)
  await withClaims(deps, {
    keys,
    store: () => storeImageFiles(deps.files, mark.stored),
    commit: () => replaceMark(deps, actor, mark, keys),
  })
}

/** Puts the addresses in place, or goes back to the drawn mark; `claimed` have a row then. */
export async function replaceMark(
  deps: Pick<Deps, 'db' | 'cache' | 'config' | 'now'>,
  actor: Actor,
  mark: Pick<HostedImage, 'url' | 'rawUrl' | 'copyWidths'> | null,
  claimed: readonly string[] = [],
): Promise<void> {
  await transaction(deps, async (tx, changed) => {
    await dropClaims(tx, claimed)
    const values = {
      mark_url: mark?.url ?? null,
      raw_mark_url: mark?.rawUrl ?? null,
      mark_widths: mark?.copyWidths ?? [],
      changed: new Date(deps.now()),
    }
    // The row first, so that the second of two that come at once sees the picture of the first.
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
      await removeImages(tx, deps.config, imageUrls({ url, raw_url, copy_widths }))
    }
    await recordAudit(tx, {
      action: 'settings.changed',
      actor,
      details: { fields: ['mark'], mark: values.raw_mark_url },
    })
    changed.add('settings', SETTINGS_ID)
  })
}
