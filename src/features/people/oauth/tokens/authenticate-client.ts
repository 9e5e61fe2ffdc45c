// Authenticates the application that calls a token endpoint.
import { timingSafeEqual } from 'node:crypto'
import { hashToken, parseAuthorization } from '#lib/access/tokens.ts'
import { isIdForm } from '#lib/ids.ts'
import type { Db } from '#platform/db/db.ts'
import { OAuthError } from './oauth-error.ts'
import { type Form, optionalField } from './requests.ts'

type Credentials = { id: string | undefined; secret: string | undefined }

const NO_HASH = Buffer.alloc(32)

/**
 * Returns the ID of the application that calls. Its secret is in the form (`client_secret`) or in the Authorization header as
 * Basic, Bearer or plain value. A public client sends only `client_id`.
 * @throws OAuthError `invalid_client` for an unknown application and for a wrong secret; `invalid_request`
 */
export async function authenticateClient(
  db: Db,
  { body, headers }: { body: unknown; headers: { authorization?: string | undefined } },
): Promise<string> {
  const { id, secret } = readCredentials(body as Form, headers.authorization)
  if (id === undefined) throw new OAuthError('invalid_request', 'client_id is required')
  const row = isIdForm(id)
    ? await db.selectFrom('oauth_client').select(['id', 'secret_hash']).where('id', '=', id).executeTakeFirst()
    : undefined
  if (row?.secret_hash === null && secret === undefined) return row.id
  // Compares hashes even without a row, so that the response time reveals nothing.
  const isRight = timingSafeEqual(hashToken(secret ?? ''), row?.secret_hash ?? NO_HASH)
  if (row === undefined || secret === undefined || !isRight)
    throw new OAuthError('invalid_client', 'The application is unknown or its secret is missing or wrong')
  return row.id
}

function readCredentials(form: Form, authorization: string | undefined): Credentials {
  const inForm = { id: optionalField(form, 'client_id'), secret: optionalField(form, 'client_secret') }
  if (authorization === undefined) return inForm
  if (inForm.secret !== undefined) {
    throw new OAuthError(
      'invalid_request',
      'The secret must be either in the form or in the Authorization header, not in both',
    )
  }
  const basic = /^basic +([A-Za-z0-9+/]+={0,2})$/i.exec(authorization.trim())
  if (basic === null) return { id: inForm.id, secret: parseAuthorization(authorization) ?? '' }
  const inHeader = readBasic(Buffer.from(basic[1] ?? '', 'base64').toString('utf8'))
  if (inForm.id !== undefined && inHeader.id !== inForm.id)
    throw new OAuthError('invalid_request', 'client_id differs from the username in the Authorization header')
  return inHeader
}

/** Parses Basic credentials, which are encoded like form fields (RFC 6749, 2.3.1). An empty secret means no secret. */
function readBasic(text: string): Credentials {
  const colon = text.indexOf(':')
  const decode = (part: string): string => new URLSearchParams(`v=${part.replaceAll('&', '%26')}`).get('v') ?? ''
  if (colon < 0) return { id: decode(text), secret: undefined }
  return { id: decode(text.slice(0, colon)), secret: decode(text.slice(colon + 1)) || undefined }
}
