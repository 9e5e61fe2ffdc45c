// The wire shapes of counting downloads.
import Type, { type Static } from 'typebox'

export const CountedDownloads = Type.Object(
  {
    counted: Type.Integer(),
    capped: Type.Integer({ description: 'Not counted: the client address has reached its limit for the project' }),
    unknown: Type.Integer({ description: 'Not counted: there is no such file' }),
  },
  { title: 'CountedDownloads' },
)
export type CountedDownloads = Static<typeof CountedDownloads>
