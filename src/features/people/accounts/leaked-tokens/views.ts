// Response schemas of leaked tokens.

import Type, { type Static } from 'typebox'
import { NamedObject } from '#lib/schema/schema-parts.ts'

export const ReportOutcome = NamedObject('LeakedTokenOutcome', {
  token_raw: Type.String(),
  token_type: Type.String(),
  label: Type.Enum(['true_positive', 'false_positive'], {
    description: '`true_positive`: the token worked and is revoked now',
  }),
})
export type ReportOutcome = Static<typeof ReportOutcome>
