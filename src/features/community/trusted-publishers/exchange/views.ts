// Response schemas of the exchange.

import Type from 'typebox'
import { NamedObject } from '#lib/schema/schema-parts.ts'

export const PublishingMetadata = Type.Object({ audience: Type.String(), token_endpoint: Type.String() })

export const PublisherToken = NamedObject('PublisherToken', {
  access_token: Type.String({ description: 'Token that publishes versions for 15 minutes' }),
  token_type: Type.String(),
  expires_in: Type.Integer({ description: 'Seconds' }),
  projects: Type.Array(Type.String(), { description: 'IDs of the projects in which the token publishes' }),
  publisher: Type.Object({ id: Type.String(), repository: Type.String(), workflow: Type.String() }),
})
