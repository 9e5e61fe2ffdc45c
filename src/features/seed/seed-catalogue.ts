// Fills the database and the file store with the demo catalogue. What is there already stays as it is, so that a run
// that was cut off is taken up by the next, and a larger one adds to a smaller one.
import { sql } from 'kysely'
import { ApiError } from '#lib/errors.ts'
import type { Deps } from '#main/deps.ts'
import { type DemoCatalogue, demoCatalogue } from './demo-catalogue.ts'
import { seedCollections } from './seed-collections.ts'
import { demoId } from './seed-ids.ts'
import { demoUntil } from './seed-items.ts'
import { seedOrganizations, seedPeople, type Written } from './seed-people.ts'
import { type Indexed, type Names, type SeedDeps, seedProjects } from './seed-projects.ts'
import { giveSignIns, type SignIn } from './sign-ins.ts'
import { asSeeded } from './waiting-projects.ts'

export type SeedReport = {
  people: Written
  organizations: Written
  projects: Written
  /** Of the projects that were added. */
  versions: number
  collections: Written
  /** The accounts that got a password in this run: it is shown once. */
  signIns: SignIn[]
}

type AllDeps = SeedDeps & Pick<Deps, 'pool' | 'taxonomy' | 'now'>

/** The catalogue is the same on every machine: a run finds again what another has made. */
const SEED = 1
/** Projects written by one transaction, with some hundreds of versions. */
const BATCH = 50
/** Two runs at once would write the same rows; an arbitrary number that nothing else locks. */
const LOCK = 7_300_424

/**
 * Adds as many demo projects as are missing of `projects`, with people, organizations, follows and collections.
 * @throws ApiError `conflict` while another run is under way.
 */
export async function seedCatalogue(
  deps: AllDeps,
  projects: number,
  onProgress: (done: number) => void = () => {},
): Promise<SeedReport> {
  const holder = await deps.pool.connect()
  let isHeld = false
  // A lost connection is no reason to end: what is written does not go through it.
  holder.on('error', () => {})
  try {
    const { rows } = await holder.query('select pg_try_advisory_lock($1) as is_mine', [LOCK])
    isHeld = rows[0]?.is_mine === true
    if (!isHeld) throw new ApiError('conflict', 'The demo catalogue is being written already')
    const until = await demoUntil(deps.db, deps.now())
    return await seedAll(deps, demoCatalogue({ taxonomy: deps.taxonomy, projects, seed: SEED, until }), {
      until,
      onProgress,
    })
  } finally {
    // A connection that is lost has lost the lock too.
    if (isHeld) await holder.query('select pg_advisory_unlock($1)', [LOCK]).catch(() => {})
    holder.release(true)
  }
}

async function seedAll(
  deps: AllDeps,
  catalogue: DemoCatalogue,
  { until, onProgress }: { until: Date; onProgress: (done: number) => void },
): Promise<SeedReport> {
  const { people } = catalogue
  const peopleWritten = await seedPeople(deps, people, SEED)
  const accountOf = indexBy(people, ({ username }) => username, 'account')
  const organizations = await seedOrganizations(deps, catalogue.organizations, { accountOf, seed: SEED })
  const slugs = new Map<string, number>()
  const names: Names = {
    seed: SEED,
    until,
    people,
    accountOf,
    organizationOf: await findOrganizations(deps, catalogue),
    projectOf: (slug) => demoId('project', slugs.get(slug) ?? missingName(slug)),
    peopleFrom: (start, count) => someOf(people.length, start, count),
  }
  const written = { added: 0, present: 0, versions: 0 }
  const shown: string[] = []
  let batch: Indexed[] = []
  const write = async (): Promise<void> => {
    const { added, present, versions } = await seedProjects(deps, batch, names)
    written.added += added
    written.present += present
    written.versions += versions
    batch = []
    onProgress(written.added + written.present)
  }
  let index = 0
  for (const demo of catalogue.projects) {
    const project = asSeeded(demo, index, until)
    slugs.set(project.slug, index)
    if (project.status === 'approved') shown.push(demoId('project', index))
    batch.push({ project, index })
    if (batch.length === BATCH) await write()
    index += 1
  }
  if (batch.length > 0) await write()
  const collections = await seedCollections(deps, {
    projectIds: await keepPresent(deps, shown),
    people: people.length,
    seed: SEED,
    until,
  })
  const signIns = await giveSignIns(deps)
  const { versions, ...projects } = written
  return { people: peopleWritten, organizations, projects, versions, collections, signIns }
}

function indexBy<Item>(items: readonly Item[], nameOf: (item: Item) => string, kind: 'account') {
  const places = new Map(items.map((item, n) => [nameOf(item), n]))
  return (name: string): string => demoId(kind, places.get(name) ?? missingName(name))
}

function missingName(name: string): never {
  throw new Error(`The demo catalogue names ${name}, and has none`)
}

/** Different numbers below `total`, at most all of them, in steps that share no factor with it. */
function someOf(total: number, start: number, count: number): number[] {
  let step = Math.max(1, Math.floor(total * 0.618))
  while (step > 1 && gcd(step, total) !== 1) step -= 1
  return Array.from({ length: Math.min(count, total) }, (_, i) => (start + i * step) % total)
}

function gcd(a: number, b: number): number {
  return b === 0 ? a : gcd(b, a % b)
}

/** Organizations that an earlier, smaller run has made may have another owner than this catalogue gives them. */
async function findOrganizations({ db }: SeedDeps, { organizations }: DemoCatalogue): Promise<Names['organizationOf']> {
  const rows = await db
    .selectFrom('organization')
    .innerJoin('team_member', 'team_member.team_id', 'organization.team_id')
    .select(['organization.id', 'team_member.account_id'])
    .where('team_member.is_owner', '=', true)
    .where('organization.id', '=', sql<string>`any(${organizations.map((_, n) => demoId('organization', n))}::text[])`)
    .execute()
  const owners = new Map(rows.map(({ id, account_id }) => [id, account_id]))
  const places = new Map(organizations.map(({ slug }, n) => [slug, demoId('organization', n)]))
  return (slug) => {
    const id = places.get(slug)
    const ownerId = id === undefined ? undefined : owners.get(id)
    return id === undefined || ownerId === undefined ? undefined : { id, ownerId }
  }
}

/** A demo project may have been deleted, or hidden, since it was made. */
async function keepPresent({ db }: SeedDeps, ids: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{
    id: string
  }>`select id from unnest(${[...ids]}::text[]) with ordinality as wanted (id, place)
    where exists (select 1 from project where project.id = wanted.id and project.status = 'approved')
    order by place`.execute(db)
  return rows.map(({ id }) => id)
}
