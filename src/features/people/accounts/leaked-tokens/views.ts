// Response schemas of leaked tokens.
import Type, { type Static } from 'typebox'

export const ReportOutcome = Type.Object(
  {
    token_raw: Type.String(),
    token_type: Type.String(),
    label: Type.Enum(['true_positive', 'false_positive'], {
      description: '`true_positive`: the token worked and is revoked now',
    }),
  },
  { title: 'LeakedTokenOutcome' },
)
export type ReportOutcome = Static<typeof ReportOutcome>
