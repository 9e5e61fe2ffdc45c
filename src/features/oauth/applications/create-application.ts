import type { Tx } from '#db/db.ts'
import { lockAccount } from '#features/accounts/queries.ts'
import { ApiError, validationError } from '#lib/errors.ts'
import { newId } from '#lib/ids.ts'
import { grantFault } from '#lib/scopes.ts'
import { checkHttpsUrl, checkText } from '#lib/text-rules.ts'
import { newSecret } from '#lib/tokens.ts'
import { redirectUriFault } from './redirect-uri.ts'
import { NAME_LENGTH_MIN, type NewApplication, REDIRECT_URIS_MAX, TEXT_LENGTH_MAX } from './views.ts'

/** Applications of one account. */
const APPLICATIONS_MAX = 100

/**
 * Makes an application; its secret can be read this once. A public client has none.
 * @throws ApiError `validation_error` naming the faulty field, `limit_reached` from 100 applications on
 */
export async function createApplication(
  tx: Tx,
  { accountId, now, fields }: { accountId: string; now: number; fields: NewApplication },
): Promise<{ id: string; secret: string | null }> {
  checkApplication(fields)
  await lockAccount(tx, accountId)
  const { count } = await tx
    .selectFrom('oauth_client')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('account_id', '=', accountId)
    .executeTakeFirstOrThrow()
  if (count >= APPLICATIONS_MAX) {
    throw new ApiError('limit_reached', `An account has at most ${APPLICATIONS_MAX} applications; delete one first`)
  }
  const id = newId()
  const made = fields.public_client === true ? undefined : newSecret()
  await tx
    .insertInto('oauth_client')
    .values({
      id,
      account_id: accountId,
      name: fields.name,
      description: fields.description ?? null,
      url: fields.url ?? null,
      secret_hash: made?.hash ?? null,
      max_scopes: fields.max_scopes,
      created: new Date(now),
    })
    .execute()
  await insertRedirectUris(tx, id, fields.redirect_uris)
  return { id, secret: made?.secret ?? null }
}

/** Duplicates are collapsed. */
export async function insertRedirectUris(tx: Tx, clientId: string, uris: readonly string[]): Promise<void> {
  if (uris.length === 0) return
  const rows = [...new Set(uris)].map((uri, position) => ({ id: newId(), client_id: clientId, uri, position }))
  await tx
    .insertInto('oauth_redirect_uri')
    .values(rows)
    .onConflict((conflict) =>
      // The address keeps its identifier and takes its new place.
      conflict.columns(['client_id', 'uri']).doUpdateSet((eb) => ({ position: eb.ref('excluded.position') })),
    )
    .execute()
}

/** @throws ApiError `validation_error` naming the first faulty field of those that are given. */
export function checkApplication(fields: Partial<NewApplication>): void {
  const { name, description, url, max_scopes: scopes, redirect_uris: uris } = fields
  if (name !== undefined) checkText(name, 'name', { min: NAME_LENGTH_MIN, max: TEXT_LENGTH_MAX, visible: true })
  if (description != null) checkText(description, 'description', { max: TEXT_LENGTH_MAX })
  if (url != null) checkText(checkHttpsUrl(url, 'url'), 'url', { max: TEXT_LENGTH_MAX })
  const scopeFault = scopes === undefined ? undefined : grantFault(scopes, 'an application')
  if (scopeFault !== undefined) throw validationError('max_scopes', scopeFault)
  if (uris !== undefined) checkRedirectUris(uris)
}

function checkRedirectUris(uris: readonly string[]): void {
  if (uris.length > REDIRECT_URIS_MAX)
    throw validationError('redirect_uris', `may have at most ${REDIRECT_URIS_MAX} items`)
  for (const [index, uri] of uris.entries()) {
    const fault = redirectUriFault(uri)
    if (fault !== undefined) throw validationError(`redirect_uris.${index}`, fault)
  }
}
