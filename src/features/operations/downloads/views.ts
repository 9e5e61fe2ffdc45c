// Response schema of reported downloads.
import Type, { type Static } from 'typebox'

export const CountedDownloads = Type.Object(
  {
    counted: Type.Integer({ description: 'Number of counted reports' }),
    capped: Type.Integer({ description: 'Number of reports over the limit per IP address and project. Not counted' }),
    unknown: Type.Integer({ description: 'Number of reports of files that do not exist. Not counted' }),
  },
  { title: 'CountedDownloads' },
)
export type CountedDownloads = Static<typeof CountedDownloads>
