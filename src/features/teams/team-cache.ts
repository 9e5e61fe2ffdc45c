// Teams with all their rows, as every viewer's answer is made from. Whoever changes a team's rows, or what it is the
// team of, names its ID under `team`. What each viewer gets to see is decided per request, never cached.
import type { EntityCache } from '#cache/entity-cache.ts'
import type { Db } from '#db/db.ts'
import { listTeamReads, type TeamRead } from './queries.ts'

const TEAM_BYTES = 120
const ROW_BYTES = 200

const TEAM = {
  name: 'team',
  idOf: (team: TeamRead) => team.id,
  sizeOf: (team: TeamRead) => TEAM_BYTES + ROW_BYTES * team.members.length,
}

/** Teams by ID, whoever asks; unknown ones are left out. One statement at most. */
export function listCachedTeams(
  { db, cache }: { db: Db; cache: EntityCache },
  ids: Iterable<string>,
): Promise<Map<string, TeamRead>> {
  return cache.kind(TEAM).getMany(ids, (missing) => listTeamReads(db, missing))
}
