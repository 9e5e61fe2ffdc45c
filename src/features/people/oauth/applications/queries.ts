import type { Selectable } from 'kysely'
import { jsonArrayFrom } from 'kysely/helpers/postgres'
import { notFound } from '#lib/errors.ts'
import { newId } from '#lib/ids.ts'
import type { ChangeSet } from '#platform/cache/changes.ts'
import type { Db, Tx } from '#platform/db/db.ts'
import type { OauthClient } from '#platform/db/schema.ts'

/** An application with its redirect URIs, in the order of the request. */
export type Application = Selectable<OauthClient> & { redirect_uris: { id: string; uri: string }[] }

function selectApplications(db: Db) {
  return db
    .selectFrom('oauth_client')
    .selectAll('oauth_client')
    .select((eb) =>
      jsonArrayFrom(
        eb
          .selectFrom('oauth_redirect_uri')
          .select(['oauth_redirect_uri.id', 'oauth_redirect_uri.uri'])
          .whereRef('oauth_redirect_uri.client_id', '=', 'oauth_client.id')
          .orderBy('oauth_redirect_uri.position'),
      ).as('redirect_uris'),
    )
}

export function findApplication(db: Db, id: string): Promise<Application | undefined> {
  return selectApplications(db).where('oauth_client.id', '=', id).executeTakeFirst()
}

/** @throws ApiError 404 */
export async function getApplication(db: Db, id: string): Promise<Application> {
  const application = await findApplication(db, id)
  if (application === undefined) throw notFound('application')
  return application
}

/** Returns applications in the order of `ids`. Ignores unknown IDs. */
export async function listApplications(db: Db, ids: readonly string[]): Promise<Application[]> {
  if (ids.length === 0) return []
  const rows = await selectApplications(db).where('oauth_client.id', 'in', ids).execute()
  const byId = new Map(rows.map((row) => [row.id, row]))
  return ids.flatMap((id) => byId.get(id) ?? [])
}

/** Returns an account's applications, newest first; `createApplication` limits their number. */
export function listApplicationsOf(db: Db, accountId: string): Promise<Application[]> {
  return selectApplications(db)
    .where('oauth_client.account_id', '=', accountId)
    .orderBy('oauth_client.created', 'desc')
    .orderBy('oauth_client.id')
    .execute()
}

/** Locks an application, which blocks new codes and tokens for it. @throws ApiError 404 */
export async function lockApplication(tx: Tx, id: string): Promise<Selectable<OauthClient>> {
  const row = await tx.selectFrom('oauth_client').selectAll().where('id', '=', id).forUpdate().executeTakeFirst()
  if (row === undefined) throw notFound('application')
  return row
}

/** Inserts redirect URIs in this order, without duplicates. */
export async function insertRedirectUris(tx: Tx, clientId: string, uris: readonly string[]): Promise<void> {
  if (uris.length === 0) return
  const rows = [...new Set(uris)].map((uri, position) => ({ id: newId(), client_id: clientId, uri, position }))
  await tx
    .insertInto('oauth_redirect_uri')
    .values(rows)
    .onConflict((conflict) =>
      // An existing URI retains its ID and gets its new position.
      conflict.columns(['client_id', 'uri']).doUpdateSet((eb) => ({ position: eb.ref('excluded.position') })),
    )
    .execute()
}

/** Deletes tokens, immediately in every process. */
export async function deleteTokens(
  tx: Tx,
  changed: ChangeSet,
  of: { column: 'client_id' | 'authorization_id' | 'id'; value: string } | { column: 'code_hash'; value: Buffer },
): Promise<void> {
  const rows = await tx
    .deleteFrom('oauth_token')
    .where(of.column, '=', of.value as never)
    .returning('token_hash')
    .execute()
  const hashes = rows.map((row) => row.token_hash.toString('hex'))
  changed.addEach('token', hashes)
}
