// The wire shapes of applications (facts/people.md 1.0, "OAuth client").
import Type, { type Static } from 'typebox'
import { Nullable, Timestamp } from '#lib/schema-parts.ts'
import { URL_LENGTH_MAX } from '#lib/text-rules.ts'
import type { Application } from './queries.ts'

const fields = {
  id: Type.String(),
  name: Type.String(),
  description: Nullable(Type.String()),
  url: Nullable(Type.String()),
  icon_url: Nullable(Type.String()),
  max_scopes: Type.Number({ description: 'Bit field of up to 48 bits' }),
  redirect_uris: Type.Array(Type.Object({ id: Type.String(), client_id: Type.String(), uri: Type.String() })),
  public_client: Type.Boolean({ description: 'It has no secret, and must use PKCE' }),
  created_by: Type.String(),
  created: Timestamp,
}

export const ApplicationView = Type.Object(fields, { title: 'OAuthApplication' })
export type ApplicationView = Static<typeof ApplicationView>

export const NewApplicationView = Type.Object(
  { ...fields, client_secret: Nullable(Type.String({ description: 'Shown this once; null for a public client' })) },
  { title: 'NewOAuthApplication' },
)

export const ClientSecretView = Type.Object(
  { client_secret: Type.String({ description: 'Shown this once; the old one has ended' }) },
  { title: 'OAuthClientSecret' },
)

export const NAME_LENGTH_MIN = 3
export const TEXT_LENGTH_MAX = 255
export const REDIRECT_URIS_MAX = 20

const Name = Type.String({ minLength: NAME_LENGTH_MIN, maxLength: TEXT_LENGTH_MAX })
const Text = Type.Optional(Nullable(Type.String({ maxLength: TEXT_LENGTH_MAX })))
const Scopes = Type.Integer({
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'Bit field without restricted scopes: the most that the application may ask for',
})
const RedirectUri = Type.String({ maxLength: URL_LENGTH_MAX })

export const NewApplication = Type.Object(
  {
    name: Name,
    max_scopes: Scopes,
    redirect_uris: Type.Array(RedirectUri, { maxItems: REDIRECT_URIS_MAX }),
    url: Text,
    description: Text,
    public_client: Type.Optional(
      Type.Boolean({ description: 'A program that cannot keep a secret: it gets none, and must use PKCE' }),
    ),
  },
  { title: 'OAuthApplicationCreate' },
)
export type NewApplication = Static<typeof NewApplication>

/** Absent keeps a field; null clears `url` and `description`. */
export const ApplicationPatch = Type.Object(
  {
    name: Type.Optional(Name),
    max_scopes: Type.Optional(Scopes),
    redirect_uris: Type.Optional(Type.Array(RedirectUri, { minItems: 1, maxItems: REDIRECT_URIS_MAX })),
    url: Text,
    description: Text,
  },
  { title: 'OAuthApplicationPatch' },
)
export type ApplicationPatch = Static<typeof ApplicationPatch>

export function toApplicationView(row: Application): ApplicationView {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    url: row.url,
    icon_url: row.icon_url,
    max_scopes: row.max_scopes,
    redirect_uris: row.redirect_uris.map(({ id, uri }) => ({ id, client_id: row.id, uri })),
    public_client: row.secret_hash === null,
    created_by: row.account_id,
    created: row.created.toISOString(),
  }
}
