// Teams with all their rows, from which every viewer's answer is made. A change of a team's rows, or of what it is the
// team of, names its ID under `team`. What each viewer may see is decided per request, never cached.
import type { EntityCache } from '#platform/cache/entity-cache.ts'
import type { Db } from '#platform/db/db.ts'
import { listTeamReads, type TeamRead } from './queries.ts'

const TEAM_BYTES = 120
const ROW_BYTES = 200

const TEAM = {
  name: 'team' as const,
  idOf: (team: TeamRead) => team.id,
  sizeOf: (team: TeamRead) => TEAM_BYTES + ROW_BYTES * team.members.length,
}

/** Teams by ID, for any viewer; unknown ones are left out. One statement at most. */
export function listCachedTeams(
  { db, cache }: { db: Db; cache: EntityCache },
  ids: Iterable<string>,
): Promise<Map<string, TeamRead>> {
  return cache.kind(TEAM).getMany(ids, (missing) => listTeamReads(db, missing))
}
