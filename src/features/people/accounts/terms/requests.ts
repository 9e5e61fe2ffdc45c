// Requests of the consent to the Terms.
import Type from 'typebox'
import { NamedObject } from '#lib/schema/schema-parts.ts'

/** Number of a version of the Terms. `more` continues the description. */
export const termsVersion = (more = '') =>
  Type.Integer({
    minimum: 1,
    maximum: 2 ** 31 - 1,
    description: `Version of the Terms that the user agrees to: \`version\` of \`terms\` in \`pages\` of \`/_internal/instance\`${more}`,
  })

export const NewConsent = NamedObject('TermsConsentCreate', { version: termsVersion() })
