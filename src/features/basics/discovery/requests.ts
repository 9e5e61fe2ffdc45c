// Request schemas of the discovery documents.
import Type from 'typebox'

export const ClientQuery = Type.Object({
  v: Type.Optional(
    Type.String({
      maxLength: 64,
      description: 'Any text, which the instance ignores: npx installs the package again if its URL is new',
    }),
  ),
})
