// Which application calls, and the proof of it.
import { timingSafeEqual } from 'node:crypto'
import { hashToken, parseAuthorization } from '#lib/access/tokens.ts'
import { isIdForm } from '#lib/ids.ts'
import type { Db } from '#platform/db/db.ts'
import { OAuthError } from './oauth-error.ts'
import { type Form, optionalField } from './requests.ts'

/** An application that has proved who it is, as far as it can. */
export type Client = { id: string }

type Credentials = { id: string | undefined; secret: string | undefined }

const NO_HASH = Buffer.alloc(32)

/**
 * The application behind a request to the token endpoints. Its secret comes in the form (`client_secret`), or in the
 * Authorization header as Basic, as Bearer or raw; one that has none is named by `client_id` alone.
 * @throws OAuthError `invalid_client`, the same for an unknown application and a wrong secret; `invalid_request`
 */
export async function authenticateClient(
  db: Db,
  { form, authorization }: { form: unknown; authorization: string | undefined },
): Promise<Client> {
  const { id, secret } = readCredentials(form as Form, authorization)
  if (id === undefined) throw new OAuthError('invalid_request', 'client_id is required')
  const row = isIdForm(id)
    ? await db.selectFrom('oauth_client').select(['id', 'secret_hash']).where('id', '=', id).executeTakeFirst()
    : undefined
  if (row?.secret_hash === null && secret === undefined) return { id: row.id }
  // Compared also where there is nothing to compare with, so that the time is the same.
  const isRight = timingSafeEqual(hashToken(secret ?? ''), row?.secret_hash ?? NO_HASH)
  if (row === undefined || secret === undefined || !isRight) {
    throw new OAuthError('invalid_client', 'The application is unknown or its secret is missing or wrong')
  }
  return { id: row.id }
}

function readCredentials(form: Form, authorization: string | undefined): Credentials {
  const inForm = { id: optionalField(form, 'client_id'), secret: optionalField(form, 'client_secret') }
  if (authorization === undefined) return inForm
  if (inForm.secret !== undefined) {
    throw new OAuthError('invalid_request', 'The secret may be in the form or in the Authorization header, not in both')
  }
  const basic = /^basic +([A-Za-z0-9+/]+={0,2})$/i.exec(authorization.trim())
  if (basic === null) return { id: inForm.id, secret: parseAuthorization(authorization) ?? '' }
  const given = readBasic(Buffer.from(basic[1] ?? '', 'base64').toString('utf8'))
  if (inForm.id !== undefined && given.id !== inForm.id) {
    throw new OAuthError('invalid_request', 'client_id differs from the user name in the Authorization header')
  }
  return given
}

/** Both parts are encoded as in a form; an empty secret is none (RFC 6749, 2.3.1). */
function readBasic(text: string): Credentials {
  const colon = text.indexOf(':')
  const decode = (part: string): string => new URLSearchParams(`v=${part.replaceAll('&', '%26')}`).get('v') ?? ''
  if (colon < 0) return { id: decode(text), secret: undefined }
  return { id: decode(text.slice(0, colon)), secret: decode(text.slice(colon + 1)) || undefined }
}
