// Names that projects, organizations and accounts had before. Triggers record them.
import { sql } from 'kysely'
import type { Db } from '#platform/db/db.ts'

export type NamedKind = 'project' | 'organization' | 'account'

/** Columns with the present names, in lower case. */
const PRESENT = {
  project: sql`project where slug`,
  organization: sql`organization where slug`,
  account: sql`account where lower(username)`,
}

/** Returns the ID of the previous owner of a name; undefined without one, or if the name has a present owner. */
export async function findPreviousOwner(db: Db, kind: NamedKind, name: string): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`
    select coalesce(project_id, organization_id, account_id) as id from previous_name
    where kind = ${kind} and name = lower(${name})
      and not exists (select from ${PRESENT[kind]} = lower(${name}))
  `.execute(db)
  return rows[0]?.id
}
