import Type, { type Static } from 'typebox'
import { type FilesConfig, imageUrl } from '#features/basics/images/hosted-image.ts'
import { NamedObject } from '#lib/schema/schema-parts.ts'
import type { Application } from '../applications/queries.ts'

export const Consent = NamedObject('OAuthConsent', {
  flow_id: Type.String({ description: 'Secret for the accept or reject request; valid for 30 minutes' }),
  client_id: Type.String(),
  client_name: Type.String(),
  client_icon: Type.Union([Type.String(), Type.Null()]),
  requested_scopes: Type.Number(),
})

export function toConsent(
  config: FilesConfig,
  request: { application: Application; flow: string; scopes: number },
): Static<typeof Consent> {
  const { application, flow, scopes } = request
  return {
    flow_id: flow,
    client_id: application.id,
    client_name: application.name,
    client_icon: imageUrl(config, application.icon_url),
    requested_scopes: scopes,
  }
}

export const NextUrl = Type.String({ description: 'URL to open in the browser; also in the header `Location`' })
