// Response schema of the overview.
import Type, { type Static } from 'typebox'
import { Readiness } from '#features/basics/meta/readiness.ts'
import { NamedObject, Nullable, Timestamp } from '#lib/schema/schema-parts.ts'
import { TaskCounts } from './background-jobs/views.ts'
import { BackupView } from './backups/views.ts'
import { FiguresView } from './figures/views.ts'
import { ProblemView } from './problems.ts'

export const OverviewView = NamedObject('InstanceOverview', {
  version: Type.String({ description: 'Version of Depot' }),
  commit: Nullable(Type.String({ description: 'Git commit of Depot; null if it is unknown' })),
  uptime_seconds: Type.Integer({ description: 'Time since the start of the process that responds' }),
  http_processes: Type.Integer({ description: 'Processes of this server that handle requests' }),
  status: Readiness.properties.status,
  problems: Type.Array(ProblemView, { description: 'Errors before warnings' }),
  dependencies: Readiness.properties.dependencies,
  figures: FiguresView,
  tasks: Type.Array(TaskCounts, { description: 'Background jobs by type' }),
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
