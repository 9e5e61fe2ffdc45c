// Caches teams with all their rows. A command that changes a team's rows or its project or organization must add its ID
// to the change set, under `team`. Responses depend on the viewer and are not cached.
import type { EntityCache } from '#platform/cache/entity-cache.ts'
import type { Db } from '#platform/db/db.ts'
import { listTeamReads, type TeamRead } from './queries.ts'

const TEAM_BYTES = 120
const ROW_BYTES = 200

const TEAM = {
  name: 'team' as const,
  idOf: (team: TeamRead) => team.id,
  sizeOf: (team: TeamRead) => TEAM_BYTES + ROW_BYTES * team.members.length,
  revisionOf: (team: TeamRead) => team.revision,
}

/** Returns the teams with these IDs, by ID. Skips unknown IDs. Runs at most one statement. */
export function listCachedTeams(
  { db, cache }: { db: Db; cache: EntityCache },
  ids: Iterable<string>,
): Promise<Map<string, TeamRead>> {
  return cache.kind(TEAM).getMany(ids, (missing) => listTeamReads(db, missing))
}
