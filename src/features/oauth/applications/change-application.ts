// What happens to an application once it exists: edits, a new secret, its end.
import type { ChangeSet } from '#cache/changes.ts'
import type { Tx } from '#db/db.ts'
import { ICON_BYTES_MAX, type IconOwner, removePictures } from '#features/pictures/icons.ts'
import { forbidden, invalidInput, notFound } from '#lib/errors.ts'
import { parseId } from '#lib/ids.ts'
import { newSecret } from '#lib/tokens.ts'
import { isModerator, type Viewer } from '#lib/viewer.ts'
import type { Deps } from '#main/deps.ts'
import { checkApplication, insertRedirectUris } from './create-application.ts'
import { deleteTokens, getApplication, lockApplication } from './queries.ts'
import type { ApplicationPatch } from './views.ts'

/** @throws ApiError 403 unless it is the viewer's own or the viewer is a moderator. */
function requireEditable<Owned extends { account_id: string }>(viewer: Viewer, application: Owned): Owned {
  if (application.account_id !== viewer.id && !isModerator(viewer)) throw notYours()
  return application
}

/**
 * Edits an application. Other scopes, or an address less, end what was asked under the old ones and not yet exchanged; tokens
 * keep what people allowed.
 * @throws ApiError 404, 403, `validation_error` naming the field
 */
export async function updateApplication(
  tx: Tx,
  viewer: Viewer,
  { id, patch }: { id: string; patch: ApplicationPatch },
): Promise<void> {
  const before = requireEditable(viewer, await lockApplication(tx, id))
  const { name, description, url, max_scopes, redirect_uris } = patch
  checkApplication(patch as Parameters<typeof checkApplication>[0])
  const values = {
    ...(name === undefined ? {} : { name }),
    ...(description === undefined ? {} : { description }),
    ...(url === undefined ? {} : { url }),
    ...(max_scopes === undefined ? {} : { max_scopes }),
  }
  if (Object.keys(values).length > 0) await tx.updateTable('oauth_client').set(values).where('id', '=', id).execute()
  const isFewer = redirect_uris !== undefined && (await replaceRedirectUris(tx, id, redirect_uris))
  // A form sends these with every other change.
  const isSame = max_scopes === undefined || max_scopes === before.max_scopes
  if (isSame && !isFewer) return
  await tx.deleteFrom('oauth_flow').where('client_id', '=', id).execute()
  await tx.deleteFrom('oauth_code').where('client_id', '=', id).execute()
}

/** Whether one of the old ones is gone. */
async function replaceRedirectUris(tx: Tx, id: string, uris: readonly string[]): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('oauth_redirect_uri')
    .where('client_id', '=', id)
    .where('uri', 'not in', uris)
    .executeTakeFirstOrThrow()
  await insertRedirectUris(tx, id, uris)
  return numDeletedRows > 0n
}

/**
 * Gives an application another secret; the old one ends. Only for its owner: a moderator has no business with it.
 * @throws ApiError 404, 403, `invalid_input` for a public client
 */
export async function rotateSecret(tx: Tx, viewer: Viewer, id: string): Promise<string> {
  const { account_id, secret_hash } = await lockApplication(tx, id)
  if (account_id !== viewer.id) throw notYours()
  if (secret_hash === null) throw invalidInput('A public client has no secret')
  const { secret, hash } = newSecret()
  await tx.updateTable('oauth_client').set({ secret_hash: hash }).where('id', '=', id).execute()
  return secret
}

/** Deletes an application with everything people allowed it; its tokens end at once. @throws ApiError 404, 403 */
export async function deleteApplication(
  { tx, changed, config }: { tx: Tx; changed: ChangeSet; config: Deps['config'] },
  viewer: Viewer,
  id: string,
): Promise<void> {
  const { icon_url, raw_icon_url } = requireEditable(viewer, await lockApplication(tx, id))
  await deleteTokens(tx, changed, { column: 'client_id', value: id })
  await tx.deleteFrom('oauth_client').where('id', '=', id).execute()
  await removePictures(tx, config, [icon_url, raw_icon_url])
}

export function applicationIconOwner({ db }: Pick<Deps, 'db'>): IconOwner {
  return {
    path: '/oauth/app',
    noun: 'Application',
    scopes: ['SESSION_ACCESS'],
    maxBytes: ICON_BYTES_MAX,
    authorize: async (viewer, id) => requireEditable(viewer, await getApplication(db, parseId(id, 'id'))).id,
    write: async (tx, _changed, { id, viewer, icon }) => {
      const before = requireEditable(viewer, await lockApplication(tx, id))
      await tx
        .updateTable('oauth_client')
        .set({ icon_url: icon?.url ?? null, raw_icon_url: icon?.rawUrl ?? null })
        .where('id', '=', id)
        .execute()
      return [before.icon_url, before.raw_icon_url]
    },
  }
}

function notYours() {
  return forbidden('This is the application of another account')
}

/** Hides an application from those who manage their own: another's is as good as absent on a settings page. */
export function requireOwnApplication<Owned extends { account_id: string }>(viewer: Viewer, application: Owned): Owned {
  if (application.account_id !== viewer.id) throw notFound('application')
  return application
}
