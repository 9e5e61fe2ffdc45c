// Setting and removing the icon of everything that has one. The old picture is removed after the new one is saved.

import type { ScopeName } from '#lib/access/scopes.ts'
import type { Viewer } from '#lib/access/viewer.ts'
import { newId } from '#lib/ids.ts'
import type { ChangeSet } from '#platform/cache/changes.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Tx } from '#platform/db/db.ts'
import type { Deps } from '#ports/deps.ts'
import { dropClaims, removeLater, withClaims } from '#ports/files/claims.ts'
import { type HostedImage, imageKey, storeImageFiles, toHostedImage } from './hosted-image.ts'

/** Something that has an icon, as its feature describes it. */
export type IconOwner = {
  /** Path of the things, as `/v3/user`. */
  path: string
  /** One of them, as `User`: part of the operations' names. */
  noun: string
  /** All of these, as routes declare them. */
  scopes: readonly ScopeName[]
  /** The largest picture taken. */
  maxBytes: number
  /**
   * ID of what `name` names, if the viewer may change its icon. Asked before the picture is read.
   * @throws ApiError 404 for what is absent or hidden, 403.
   */
  authorize(viewer: Viewer, name: string): Promise<string>
  /**
   * Puts the addresses into the row, which it locks; null clears them. Names what it changes.
   * @returns the addresses that were there before.
   * @throws ApiError 404 when the row has gone meanwhile.
   */
  write(tx: Tx, changed: ChangeSet, change: IconChange): Promise<readonly (string | null)[]>
}

export type IconChange = { id: string; viewer: Viewer; icon: Pick<HostedImage, 'url' | 'rawUrl' | 'color'> | null }

/** Organizations and projects take icons up to this size, users and collections below it. */
export const ICON_BYTES_MAX = 262_144

export type IconUpload = { id: string; viewer: Viewer; bytes: Buffer; ext: string }

/** @throws ApiError `invalid_input` naming `icon` or `ext`, `file_hosting_error`, and what the owner refuses. */
export async function setIcon(deps: Deps, owner: IconOwner, { id, viewer, bytes, ext }: IconUpload): Promise<void> {
  const processed = await deps.images.processIcon(bytes, ext, { maxBytes: owner.maxBytes, caller: viewer.caller })
  // A folder for each upload, so that parallel uploads of one picture, of which one fails, share no file.
  const icon = toHostedImage(deps.config, processed, `${id}-${newId()}`)
  const keys = icon.stored.map(({ key }) => key)
  await withClaims(deps, {
    keys,
    store: () => storeImageFiles(deps.files, icon.stored),
    commit: () => replaceIcon(deps, owner, { id, viewer, icon }, keys),
  })
}

/** Puts the addresses in place, or clears them, and removes the pictures that were there; `claimed` have a row then. */
export async function replaceIcon(
  deps: Pick<Deps, 'db' | 'cache' | 'config'>,
  owner: IconOwner,
  change: IconChange,
  claimed: readonly string[] = [],
): Promise<void> {
  await transaction(deps, async (tx, changed) => {
    await dropClaims(tx, claimed)
    await removeImages(tx, deps.config, await owner.write(tx, changed, change))
  })
}

/** Asks for the removal of the pictures at these addresses once the transaction commits. */
export async function removeImages(tx: Tx, config: Deps['config'], urls: readonly (string | null)[]): Promise<void> {
  await removeLater(tx, [...new Set(urls.flatMap((url) => imageKey(config, url) ?? []))])
}
