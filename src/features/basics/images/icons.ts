// Sets and removes the icons of resources. The old files are deleted after the new icon is saved.
import type { ScopeName } from '#features/basics/access/scopes.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import type { DeclaredError } from '#lib/errors.ts'
import { newId } from '#lib/ids.ts'
import type { ChangeSet } from '#platform/cache/changes.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Tx } from '#platform/db/db.ts'
import type { Deps } from '#ports/deps.ts'
import { dropClaims, removeLater } from '#ports/files/claims.ts'
import { type HostedImage, IMAGE_KEYS, toHostedImage, withStoredImages } from './hosted-image.ts'

/** A kind of resource that has an icon, as its feature describes it. */
export type IconOwner = {
  /** Base path of the resource, such as `/v3/user`. */
  path: string
  /** Name of the resource in operation IDs, such as `User`. */
  noun: string
  /** Required scopes. */
  scopes: readonly ScopeName[]
  limitedTokens?: 'resource'
  /** Errors of setting the icon. */
  errors?: readonly DeclaredError[]
  /** Maximum size of the image. */
  maxBytes: number
  /**
   * Returns the ID of the resource with this ID or slug. Called before the body is read.
   * @throws ApiError 404, 403 if the viewer cannot change the icon.
   */
  authorize(viewer: Viewer, name: string): Promise<string>
  /**
   * Locks the row, saves the keys (null clears them) and reports the change.
   * @returns the previous keys.
   * @throws ApiError 404 if the resource was deleted during the upload.
   */
  write(tx: Tx, changed: ChangeSet, change: IconChange): Promise<readonly (string | null)[]>
}

export type IconChange = {
  id: string
  viewer: Viewer
  icon: Pick<HostedImage, 'key' | 'rawKey' | 'color' | 'likeness'> | null
}

/** Maximum size of the icons of organizations and projects. */
export const ICON_BYTES_MAX = 262_144

export type IconUpload = { id: string; viewer: Viewer; bytes: Buffer; ext: string }

/** Processes, stores and sets an icon. @throws ApiError `invalid_input` naming `icon` or `ext`, `file_hosting_error`. */
export async function setIcon(deps: Deps, owner: IconOwner, { id, viewer, bytes, ext }: IconUpload): Promise<void> {
  const processed = await deps.images.processIcon(bytes, ext, { maxBytes: owner.maxBytes, caller: viewer.caller })
  // Each upload has a separate folder, so that a failed upload cannot delete the files of a concurrent one.
  const icon = toHostedImage(processed, `${id}-${newId()}`)
  await withStoredImages(deps, { images: icon.stored }, (keys) => replaceIcon(deps, owner, { id, viewer, icon }, keys))
}

/** Saves or clears an icon and deletes the previous files; the files `claimed` then belong to the row. */
export async function replaceIcon(
  deps: Pick<Deps, 'db' | 'cache'>,
  owner: IconOwner,
  change: IconChange,
  claimed: readonly string[] = [],
): Promise<void> {
  await transaction(deps, async (tx, changed) => {
    await dropClaims(tx, claimed)
    await removeImages(tx, await owner.write(tx, changed, change))
  })
}

/** Schedules the deletion of the images with these keys for when the transaction commits. */
export async function removeImages(tx: Tx, keys: readonly (string | null)[]): Promise<void> {
  await removeLater(tx, ownedKeys(keys))
}

/** Returns the keys of images that Depot stores, without duplicates. */
export function ownedKeys(keys: readonly (string | null)[]): string[] {
  return [...new Set(keys.flatMap((key) => (key?.startsWith(IMAGE_KEYS) === true ? key : [])))]
}
