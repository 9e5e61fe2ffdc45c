// Response schemas of the root document and of /health; readiness.ts has the schema of /ready.
import Type from 'typebox'
import { Nullable } from '#lib/schema/schema-parts.ts'

export const RootDocument = Type.Object(
  {
    name: Type.String(),
    version: Type.String({ description: 'Version of Depot' }),
    commit: Nullable(Type.String({ description: 'Git commit of Depot; null if it is unknown' })),
    documentation: Type.String(),
    about: Type.String(),
  },
  { title: 'RootDocument' },
)

export const Health = Type.Object({ status: Type.Literal('ok') }, { title: 'Health' })
