// Response schemas of the root document and of /health; readiness.ts has the schema of /ready.
import Type from 'typebox'
import { NamedObject, Nullable } from '#lib/schema/schema-parts.ts'

export const RootDocument = NamedObject('RootDocument', {
  name: Type.String(),
  version: Type.String({ description: 'Version of Depot' }),
  commit: Nullable(Type.String({ description: 'Git commit of Depot; null if it is unknown' })),
  documentation: Type.String(),
  about: Type.String(),
})

export const Health = NamedObject('Health', { status: Type.Literal('ok') })
