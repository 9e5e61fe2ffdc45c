// Response schemas of OAuth applications.
import Type, { type Static } from 'typebox'
import { type FilesConfig, withIconUrls } from '#features/basics/images/hosted-image.ts'
import { NamedObject, Nullable, Timestamp, toView } from '#lib/schema/schema-parts.ts'
import type { Application } from './queries.ts'

const fields = {
  id: Type.String(),
  name: Type.String(),
  description: Nullable(Type.String()),
  url: Nullable(Type.String()),
  icon_url: Nullable(Type.String()),
  raw_icon_url: Nullable(Type.String({ description: 'URL of the icon as it was uploaded' })),
  max_scopes: Type.Number({ description: 'Bit field of up to 48 bits' }),
  redirect_uris: Type.Array(Type.Object({ id: Type.String(), client_id: Type.String(), uri: Type.String() })),
  public_client: Type.Boolean({ description: 'Whether the application has no secret and must use PKCE' }),
  created_by: Type.String(),
  created: Timestamp,
}

export const ApplicationView = NamedObject('OAuthApplication', fields)
export type ApplicationView = Static<typeof ApplicationView>

export const NewApplicationView = NamedObject('CreatedOAuthApplication', {
  ...fields,
  client_secret: Nullable(
    Type.String({ description: 'Secret, returned only in this response; null for a public client' }),
  ),
})

export const ClientSecretView = NamedObject('OAuthClientSecret', {
  client_secret: Type.String({
    description: 'New secret, returned only in this response. The previous secret is no longer valid',
  }),
})

export const toApplicationView =
  (config: FilesConfig) =>
  (row: Application): ApplicationView =>
    toView(ApplicationView, {
      ...withIconUrls(config, row),
      redirect_uris: row.redirect_uris.map(({ id, uri }) => ({ id, client_id: row.id, uri })),
      public_client: row.secret_hash === null,
      created_by: row.account_id,
    })
