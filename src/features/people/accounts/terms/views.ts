// Response schemas of the consent to the Terms.
import Type from 'typebox'
import { NamedObject, Timestamp } from '#lib/schema/schema-parts.ts'

export const TermsConsentView = NamedObject('TermsConsent', {
  is_asked: Type.Boolean({
    description: 'Whether the site asks the user to agree to the Terms. The API does not refuse requests',
  }),
  consents: Type.Array(Type.Object({ version: Type.Integer(), agreed: Timestamp }), {
    description: 'Versions of the Terms that the user agreed to, newest first',
  }),
})
