// Requests of OAuth applications.
import type { Updateable } from 'kysely'
import Type, { type Static } from 'typebox'
import { scopeField, toScopeBits } from '#features/basics/access/scope-field.ts'
import { grantProblem } from '#features/basics/access/scopes.ts'
import { validationError } from '#lib/errors.ts'
import { toColumns } from '#lib/schema/patch.ts'
import { Id, Maybe, NamedObject } from '#lib/schema/schema-parts.ts'
import { checkHttpsUrl, checkText, URL_LENGTH_MAX } from '#lib/text/text-rules.ts'
import type { OauthClient } from '#platform/db/schema.ts'
import { redirectUriProblem } from './redirect-uri.ts'

const NAME_LENGTH_MIN = 3
const TEXT_LENGTH_MAX = 255
const REDIRECT_URIS_MAX = 20

const Name = Type.String({ minLength: NAME_LENGTH_MIN, maxLength: TEXT_LENGTH_MAX })
const Text = Maybe(Type.String({ maxLength: TEXT_LENGTH_MAX }))
const Scopes = scopeField('Scopes that the application can request, without restricted scopes')
const RedirectUri = Type.String({ maxLength: URL_LENGTH_MAX })

export const NewApplication = NamedObject('OAuthApplicationCreate', {
  name: Name,
  max_scopes: Scopes,
  redirect_uris: Type.Array(RedirectUri, { maxItems: REDIRECT_URIS_MAX }),
  url: Text,
  description: Text,
  public_client: Type.Optional(
    Type.Boolean({
      description:
        'Whether the application cannot keep a secret, such as an installed program. If true, it has no secret and must use PKCE. Default: false',
    }),
  ),
})
export type NewApplication = Static<typeof NewApplication>

/** Missing fields remain unchanged; null clears `url` and `description`. */
export const ApplicationPatch = NamedObject('OAuthApplicationUpdate', {
  name: Type.Optional(Name),
  max_scopes: Type.Optional(Scopes),
  redirect_uris: Type.Optional(Type.Array(RedirectUri, { minItems: 1, maxItems: REDIRECT_URIS_MAX })),
  url: Text,
  description: Text,
})
export type ApplicationPatch = Static<typeof ApplicationPatch>

export const IdsQuery = Type.Object({
  ids: Type.String({ maxLength: 65_536, description: 'IDs as a JSON array or separated by commas' }),
})

export const ClientQuery = Type.Object({ client_id: Id('ID of the application') })

/** Returns the columns that a patch changes. @throws ApiError `validation_error` naming the first invalid field. */
export function toApplicationColumns(patch: ApplicationPatch): Updateable<OauthClient> {
  checkApplication(patch)
  return toColumns<ApplicationPatch, Updateable<OauthClient>>(patch, {
    name: (name) => ({ name }),
    description: (description) => ({ description }),
    url: (url) => ({ url }),
    max_scopes: (scopes) => ({ max_scopes: toScopeBits(scopes, 'max_scopes') }),
    // A separate table has the redirect URIs.
    redirect_uris: () => ({}),
  })
}

/** Validates the fields that are set. @throws ApiError `validation_error` naming the first invalid field. */
export function checkApplication(fields: NewApplication | ApplicationPatch): void {
  const { name, description, url, max_scopes: scopes, redirect_uris: uris } = fields
  if (name !== undefined)
    checkText(name, 'name', { min: NAME_LENGTH_MIN, max: TEXT_LENGTH_MAX, visible: true, isName: true })
  if (description != null) checkText(description, 'description', { max: TEXT_LENGTH_MAX })
  if (url != null) checkText(checkHttpsUrl(url, 'url'), 'url', { max: TEXT_LENGTH_MAX })
  const scopeProblem =
    scopes === undefined ? undefined : grantProblem(toScopeBits(scopes, 'max_scopes'), 'an application')
  if (scopeProblem !== undefined) throw validationError('max_scopes', scopeProblem)
  for (const [index, uri] of (uris ?? []).entries()) {
    const problem = redirectUriProblem(uri)
    if (problem !== undefined) throw validationError(`redirect_uris.${index}`, problem)
  }
}
