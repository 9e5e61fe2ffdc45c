// Response schemas of the figures.
import Type, { type Static } from 'typebox'
import { NamedObject, Nullable, Timestamp } from '#lib/schema/schema-parts.ts'
import { PERIOD_NAMES } from './periods.ts'

const count = (description: string) => Type.Integer({ minimum: 0, description })

const figures = {
  requests: count('Handled requests, except those of monitors (`/health`, `/ready`, `/metrics`)'),
  limited: count('Requests that a rate limit rejected (429)'),
  refused: count('Requests with any other 4xx'),
  failed: count('Requests with a 5xx'),
  downloads: count('Counted downloads of files'),
  projects: count('Created projects'),
  versions: count('Published versions'),
  accounts: count('Created accounts'),
  jobs_done: count('Runs of jobs that succeeded'),
  jobs_retried: count('Runs of jobs that failed and are retried'),
  jobs_failed: count('Jobs that failed on their last attempt'),
  mails_sent: count('Emails that the mail server accepted'),
  mails_rejected: count('Attempts to send an email that failed'),
  in_review: Nullable(Type.Integer({ description: 'Projects under review at the end; null if it is unknown' })),
  median_ms: Nullable(
    Type.Number({
      description: 'Median response time in milliseconds, without uploads and downloads; null if unknown',
    }),
  ),
  p95_ms: Nullable(Type.Number({ description: 'The 95th percentile of the response time' })),
}

export const FiguresView = NamedObject('InstanceFigures', {
  period: Type.Enum(PERIOD_NAMES),
  since: Timestamp,
  until: Timestamp,
  step_seconds: Type.Integer({ description: 'Length of a point' }),
  totals: Type.Object(figures),
  points: Type.Array(Type.Object({ at: Timestamp, ...figures }), { description: 'Oldest first' }),
})
export type FiguresView = Static<typeof FiguresView>
