// Response schema of the appeal of a project.
import Type, { type Static } from 'typebox'
import type { AppealableDecision } from '#features/catalogue/reviews/appeals.ts'
import { NamedObject, Nullable, Timestamp } from '#lib/schema/schema-parts.ts'

export const ProjectAppealView = NamedObject('ProjectAppeal', {
  possible: Type.Boolean({ description: 'Whether the members can appeal the decision: each decision once' }),
  decision: Nullable(
    Type.Object(
      { status: Type.Enum(['rejected', 'withheld']), at: Timestamp },
      { description: 'Decision of a moderator that rejected or withheld the project; null for other projects' },
    ),
  ),
  appeal: Nullable(
    Type.Object(
      {
        message_id: Type.String({ description: 'ID of the message with its text, in the thread of the project' }),
        created: Timestamp,
        outcome: Nullable(
          Type.Enum(['accepted', 'rejected', 'withdrawn'], {
            description: 'Null while it waits. `withdrawn`: the project was submitted again before moderators decided',
          }),
        ),
        closed: Nullable(Timestamp),
      },
      { description: 'The appeal against this decision' },
    ),
  ),
})
type ProjectAppealView = Static<typeof ProjectAppealView>

export function toAppealView(decision: AppealableDecision | undefined): ProjectAppealView {
  if (decision === undefined) return { possible: false, decision: null, appeal: null }
  const { status, at, appeal } = decision
  const time = (text: string) => new Date(text).toISOString()
  return {
    possible: appeal === null,
    decision: { status: status as 'rejected' | 'withheld', at: at.toISOString() },
    appeal: appeal && {
      ...{ message_id: appeal.message_id, created: time(appeal.created), outcome: appeal.outcome },
      closed: appeal.closed_at === null ? null : time(appeal.closed_at),
    },
  }
}
