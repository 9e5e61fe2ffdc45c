// Response schemas of the links to other services.
import Type from 'typebox'
import { NamedObject, Nullable, Timestamp } from '#lib/schema/schema-parts.ts'

export const ProviderLinkView = NamedObject('SignInProviderLink', {
  provider: Type.String({ description: 'ID of the service in the settings of the instance' }),
  name: Type.String({ description: 'Name of the user at the service' }),
  created: Timestamp,
  last_used: Nullable(Timestamp),
})

export const ProviderLinks = NamedObject('SignInProviderLinks', {
  available: Type.Array(Type.Object({ id: Type.String(), name: Type.String() }), {
    description: 'Services that the operator has configured',
  }),
  links: Type.Array(ProviderLinkView),
})
