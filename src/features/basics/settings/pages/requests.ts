// Requests for the pages of the operator, such as the terms.
import Type, { type Static } from 'typebox'
import { NamedObject } from '#lib/schema/schema-parts.ts'

/** Pages with versions, in the order of the footer. */
export const PAGE_KINDS = ['rules', 'terms', 'privacy', 'imprint', 'contact'] as const
export type PageKind = (typeof PAGE_KINDS)[number]

export const PAGE_LENGTH_MAX = 65_536

export const PageParams = Type.Object({ kind: Type.Enum(PAGE_KINDS, { description: 'Name of the page' }) })

export const PageVersionParams = Type.Object({
  ...PageParams.properties,
  version: Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1, description: 'Number of the version' }),
})

export const NewPageVersion = NamedObject('InstancePageVersionCreate', {
  text: Type.String({
    maxLength: PAGE_LENGTH_MAX,
    description: 'Text in Markdown. A blank text removes the page from the site',
  }),
  asks_again: Type.Optional(
    Type.Boolean({
      default: false,
      description:
        'Whether the site asks all users to agree to this version of the Terms before they continue to write. Only for `terms` with a text',
    }),
  ),
})
export type NewPageVersion = Static<typeof NewPageVersion>
