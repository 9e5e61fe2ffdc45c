// Response schema of the figures about the review queue.
import Type, { type Static } from 'typebox'
import { NamedObject, Nullable, Timestamp } from '#lib/schema/schema-parts.ts'
import { AGE_LIMITS, type Backlog, DAYS, type DayOfDecisions, type ModeratorDecisions } from './queries.ts'

const DECISIONS = {
  approved: Type.Integer({ description: 'Approved projects and accepted appeals' }),
  rejected: Type.Integer({ description: 'Rejected or withheld projects, and rejected appeals' }),
}

export const QueueStatisticsView = NamedObject('QueueStatistics', {
  total: Type.Integer({ description: 'Number of projects under review' }),
  oldest: Nullable(Timestamp),
  ages: Type.Array(
    Type.Object({
      days: Nullable(Type.Integer({ description: 'Upper limit of the time in the queue; null for the last group' })),
      projects: Type.Integer(),
    }),
  ),
  median_minutes: Nullable(Type.Number({ description: `Median wait of the decisions of the last ${DAYS} days` })),
  days: Type.Array(
    Type.Object({ day: Type.String({ description: 'UTC day' }), ...DECISIONS, median_minutes: Type.Number() }),
    { description: `Decisions of the last ${DAYS} days without those that were undone; omits days without any` },
  ),
  moderators: Type.Array(Type.Object({ id: Type.String(), username: Type.String(), ...DECISIONS })),
})
export type QueueStatistics = Static<typeof QueueStatisticsView>

export function toQueueStatistics({
  backlog,
  days,
  moderators,
  median,
}: {
  backlog: Backlog
  days: DayOfDecisions[]
  moderators: ModeratorDecisions[]
  median: number | null
}): QueueStatistics {
  return {
    total: backlog.total,
    oldest: backlog.oldest?.toISOString() ?? null,
    ages: backlog.ages.map((projects, index) => ({ days: AGE_LIMITS[index] ?? null, projects })),
    median_minutes: median,
    days,
    moderators,
  }
}
