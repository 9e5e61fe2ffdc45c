// Response schemas of the exchange.

import Type from 'typebox'
import { ClientView } from '#features/basics/discovery/views.ts'
import { NamedObject } from '#lib/schema/schema-parts.ts'

export const PublishingMetadata = Type.Object({
  audience: Type.String({ description: 'Audience of the identity of a CI job' }),
  token_endpoint: Type.String({ description: 'URL that exchanges the identity for a token' }),
  client: ClientView,
})

export const PublisherToken = NamedObject('PublisherToken', {
  access_token: Type.String({ description: 'Token that publishes versions for 15 minutes' }),
  token_type: Type.String(),
  expires_in: Type.Integer({ description: 'Seconds' }),
  projects: Type.Array(Type.String(), { description: 'IDs of the projects in which the token publishes' }),
  publisher: Type.Object({ id: Type.String(), repository: Type.String(), workflow: Type.String() }),
})
