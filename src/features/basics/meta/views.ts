// The wire shapes of what the service says about itself; `readiness.ts` has that of /ready.
import Type from 'typebox'

export const RootDocument = Type.Object(
  {
    name: Type.String(),
    version: Type.String({ description: "The server's own version" }),
    documentation: Type.String(),
    about: Type.String(),
  },
  { title: 'RootDocument' },
)

export const Health = Type.Object({ status: Type.Literal('ok') }, { title: 'Health' })
