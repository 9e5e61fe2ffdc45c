// The wire shapes of counting downloads.
import Type, { type Static } from 'typebox'

/** Reports in one call. */
const REPORTS_MAX = 1_000

export const ReportedDownload = Type.Object(
  {
    url: Type.String({ maxLength: 8192, description: 'Address or path of the file, with its query' }),
    ip: Type.String({ maxLength: 64, description: 'Who downloaded; kept as a hash that changes daily' }),
    at: Type.Optional(Type.String({ maxLength: 64, description: 'RFC 3339, at most seven days ago; default now' })),
    signed_in: Type.Optional(Type.Boolean({ description: 'Whether an account downloaded; default false' })),
    headers: Type.Optional(
      Type.Record(Type.String(), Type.String({ maxLength: 8192 }), {
        maxProperties: 100,
        description: 'Of the request: `user-agent`, `referer` and the header of countries are read',
      }),
    ),
  },
  { title: 'ReportedDownload' },
)
export type ReportedDownload = Static<typeof ReportedDownload>

export const ReportedDownloads = Type.Object(
  { downloads: Type.Array(ReportedDownload, { maxItems: REPORTS_MAX }) },
  { title: 'ReportedDownloads' },
)

export const CountedDownloads = Type.Object(
  {
    counted: Type.Integer(),
    capped: Type.Integer({ description: 'Left out, because the address had its share of the project' }),
    unknown: Type.Integer({ description: 'Left out, because there is no such file' }),
  },
  { title: 'CountedDownloads' },
)
export type CountedDownloads = Static<typeof CountedDownloads>
