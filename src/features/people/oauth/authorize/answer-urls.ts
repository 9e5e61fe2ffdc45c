// Where a person is sent with the answer to an application's request.
import type { Deps } from '#ports/deps.ts'
import { withParameters } from '../applications/redirect-uri.ts'
import type { ConsentRequest } from './queries.ts'
import type { RedirectError } from './requests.ts'

type Config = Deps['config']

/** The address that brings an application its code. `iss` names the server that answers (RFC 9207), so that the application cannot be made to ask another. */
export function codeUrl(config: Config, { redirect_uri, state }: ConsentRequest, code: string): string {
  return withParameters(redirect_uri, { code, state, iss: config.http.baseUrl })
}

/** The address that brings an application an error. */
export function refusalUrl(config: Config, { redirectUri, state, error, description }: RedirectError): string {
  return withParameters(redirectUri, { error, error_description: description, state, iss: config.http.baseUrl })
}
