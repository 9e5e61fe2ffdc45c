// Response schema of the overview.
import Type, { type Static } from 'typebox'
import { Readiness } from '#features/basics/meta/readiness.ts'
import { NamedObject, Nullable, Timestamp } from '#lib/schema/schema-parts.ts'
import { TaskCounts } from './background-jobs/views.ts'
import { BackupView } from './backups/views.ts'
import { FiguresView } from './figures/views.ts'
import { FirstStepView } from './first-steps.ts'
import { ProblemView } from './problems.ts'

export const OverviewView = NamedObject('InstanceOverview', {
  version: Type.String({ description: 'Version of Depot' }),
  commit: Nullable(Type.String({ description: 'Git commit of Depot; null if it is unknown' })),
  uptime_seconds: Type.Integer({ description: 'Time since the start of the process that responds' }),
  http_processes: Type.Integer({ description: 'Processes of this server that handle requests' }),
  status: Readiness.properties.status,
  problems: Type.Array(ProblemView, { description: 'Errors before warnings' }),
  first_steps: Type.Array(FirstStepView, { description: 'First steps of an operator, in the order of the page' }),
  dependencies: Readiness.properties.dependencies,
  figures: FiguresView,
  tasks: Type.Array(TaskCounts, { description: 'Background jobs by type' }),
  recurring: Type.Array(
    Type.Object({
      task: Type.String({ description: 'Type of the job' }),
      every_minutes: Type.Integer(),
      last: Type.String({ format: 'date-time', description: 'When it was last due' }),
      next: Type.String({ format: 'date-time', description: 'When it is due next' }),
    }),
    { description: 'Recurring jobs, the next first' },
  ),
  totals: Type.Object({
    accounts: Type.Integer(),
    projects: Type.Integer({ description: 'Public projects' }),
    versions: Type.Integer({ description: 'Public versions' }),
    files: Type.Integer({ description: 'Files of public versions' }),
    downloads: Type.Integer({ description: 'Downloads of all projects' }),
    file_bytes: Nullable(Type.Integer({ description: 'Size of all files at the last measurement' })),
  }),
  moderation: Type.Object({
    queue: Type.Integer({ description: 'Projects in the queue: those under review and those with an open appeal' }),
    reports: Type.Integer({ description: 'Items with open reports' }),
    threads: Type.Integer({ description: 'Threads whose last message is not by a moderator' }),
    quarantined: Type.Integer({ description: 'Versions in quarantine' }),
    advisories: Type.Integer({ description: 'Advisories that wait for a decision' }),
    accounts: Type.Integer({ description: 'New accounts that wait for approval' }),
  }),
  certificate_until: Nullable(
    Type.String({ format: 'date-time', description: 'End of the certificate of `BASE_URL`; null if it is unknown' }),
  ),
  new_release: Nullable(
    Type.Object(
      { version: Type.String(), url: Type.String() },
      { description: 'The newest release of `RELEASES_URL`, if it is newer than this version' },
    ),
  ),
  in_review: Type.Object({
    projects: Type.Integer(),
    since: Nullable(
      Type.String({ format: 'date-time', description: 'When the oldest of these projects was submitted' }),
    ),
  }),
  disk: Type.Object({
    free_bytes: Type.Integer({ description: 'Free space on the disk of the data folder' }),
    total_bytes: Type.Integer(),
    days_left: Nullable(
      Type.Integer({ description: 'Days until the disk is full; null if the storage does not grow' }),
    ),
  }),
  backup: Nullable(BackupView),
  last_good_backup: Nullable(Timestamp),
})
export type OverviewView = Static<typeof OverviewView>
