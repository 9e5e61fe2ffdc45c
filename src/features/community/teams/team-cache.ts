// Caches teams with all their rows. A command that changes a team's rows or its project or organization must add its ID
// to the change set, under `team`. Responses depend on the viewer and are not cached.
import { defineCache } from '#platform/cache/definitions.ts'
import type { EntityCache } from '#platform/cache/entity-cache.ts'
import type { Db } from '#platform/db/db.ts'
import { listTeamReads, type TeamRead } from './queries.ts'

declare module '#platform/cache/changes.ts' {
  interface ChangeKinds {
    team: true
  }
}

const TEAM_BYTES = 120
const ROW_BYTES = 200

const TEAM = defineCache({
  name: 'team',
  contains: 'Members of a team',
  idOf: (team: TeamRead) => team.id,
  sizeOf: (team: TeamRead) => TEAM_BYTES + ROW_BYTES * team.members.length,
  revisionOf: (team: TeamRead) => team.revision,
})

/** Returns the teams with these IDs, by ID. Skips unknown IDs. Runs at most one statement. */
export function listCachedTeams(
  { db, cache }: { db: Db; cache: EntityCache },
  ids: Iterable<string>,
): Promise<Map<string, TeamRead>> {
  return cache.kind(TEAM).getMany(ids, (missing) => listTeamReads(db, missing))
}
