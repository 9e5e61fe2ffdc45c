// Reads that list what belongs to somebody, at two sizes: organizations, collections, notifications. Shown as the
// server's processor time and statements for each request against the size of the answer.

import { randomBytes } from 'node:crypto'
import { newToken } from '#lib/access/tokens.ts'
import { DAY_MS } from '#lib/time.ts'
import type { Db } from '#platform/db/db.ts'
import { createDb, createPool } from '#platform/db/db.ts'
import { startEmbeddedPostgres } from '#platform/embedded-postgres/embedded-postgres.ts'
import { silentLog } from '#platform/telemetry/log.ts'
import { makeDataDir, type RunningDepot } from '#test/support/processes/running-depot.ts'
import { call, countQueries, cpuSeconds, startBenchDepot } from './servers.ts'
import { figure, type Row, row } from './table.ts'

type Case = { what: string; path: string; token?: string; size: number }

const SIZES = [
  { members: 20, projects: 50, collected: 100, notifications: 500 },
  { members: 200, projects: 500, collected: 1024, notifications: 5000 },
] as const
const REPEATS = 40

export async function benchPeople(): Promise<Row[]> {
  const { dataDir, remove } = makeDataDir()
  const server = await startBenchDepot(dataDir)
  try {
    // The running server owns the database; a command joins it.
    const database = await startEmbeddedPostgres({ dataDir, holder: 'command', log: silentLog() })
    const pool = createPool(database.connection, { max: 2, applicationName: 'depot-bench' })
    const cases = await makeCases(createDb(pool))
    await pool.end()
    await database.stop()
    const rows: Row[] = []
    for (const [small, large] of cases) rows.push(...(await compare(server, small, large)))
    return rows
  } finally {
    await server.stop()
    remove()
  }
}

async function compare(server: RunningDepot, small: Case, large: Case): Promise<Row[]> {
  const [a, b] = [await measure(server, small), await measure(server, large)]
  const shown = (name: string, { ms, bytes, queries }: typeof a) =>
    `${name}: ${ms.toFixed(2)} ms, ${Math.round(bytes / 1024)} KiB, ${queries} queries`
  return [
    row(
      `${large.what}: statements at ${large.size} against ${small.size}`,
      b.queries - a.queries,
      { atMost: 0 },
      ' more',
    ),
    figure(`${large.what}: processor time`, `${shown(String(small.size), a)}; ${shown(String(large.size), b)}`),
  ]
}

async function measure(
  { url, child }: RunningDepot,
  { path, token }: Case,
): Promise<{ ms: number; bytes: number; queries: number }> {
  const read = async (): Promise<number> => {
    const answer = await call(`${url}${path}`, {
      headers: { 'accept-encoding': 'identity' },
      ...(token === undefined ? {} : { token }),
    })
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status}`)
    return (await answer.arrayBuffer()).byteLength
  }
  const bytes = await read()
  await read()
  const before = await countQueries(url)
  await read()
  const queries = (await countQueries(url)) - before
  const cpuBefore = cpuSeconds(child)
  for (let i = 0; i < REPEATS; i += 1) await read()
  return { ms: ((cpuSeconds(child) - cpuBefore) / REPEATS) * 1000, bytes, queries }
}

const id = (): string => randomBytes(6).toString('hex').slice(0, 8)

/** For each kind of list a small and a large one. */
async function makeCases(db: Db): Promise<[Case, Case][]> {
  const made = []
  for (const size of SIZES) made.push(await makeSize(db, size))
  const [small = [], large = []] = made
  return small.map((entry, index) => [entry, large[index] ?? entry])
}

async function makeSize(db: Db, size: (typeof SIZES)[number]): Promise<Case[]> {
  const people = await makePeople(db, size.members)
  const owner = people[0] ?? ''
  const organization = await makeOrganization(db, people)
  const projects = await makeProjects(db, organization, Math.max(size.projects, size.collected))
  const inOrganization = projects.slice(0, size.projects)
  await db.updateTable('project').set({ organization_id: null }).where('id', 'in', projects).execute()
  await db.updateTable('project').set({ organization_id: organization }).where('id', 'in', inOrganization).execute()
  const collection = await makeCollection(db, owner, projects.slice(0, size.collected))
  const token = await makeNotifications(db, owner, size.notifications)
  return [
    { what: 'organization with members', path: `/v3/organization/${organization}`, size: size.members },
    { what: 'projects of an organization', path: `/v3/organization/${organization}/projects`, size: size.projects },
    { what: 'collection', path: `/v3/collection/${collection}`, size: size.collected },
    { what: 'notifications of a user', path: `/v3/user/${owner}/notifications`, token, size: size.notifications },
  ]
}

async function makePeople(db: Db, count: number): Promise<string[]> {
  const rows = Array.from({ length: count }, () => id()).map((own) => ({
    id: own,
    username: `bench-${own}`,
    email_verified: true,
  }))
  await db.insertInto('account').values(rows).execute()
  return rows.map(({ id: own }) => own)
}

async function makeOrganization(db: Db, people: string[]): Promise<string> {
  const [own, team] = [id(), id()]
  await db.insertInto('team').values({ id: team }).execute()
  await db
    .insertInto('organization')
    .values({ id: own, slug: `bench-${own}`, name: 'Bench', description: 'Bench', team_id: team })
    .execute()
  const rows = people.map((account, index) => ({
    team_id: team,
    account_id: account,
    role: 'Member',
    is_owner: index === 0,
    accepted: true,
    permissions: 1023,
    organization_permissions: 255,
  }))
  await db.insertInto('team_member').values(rows).execute()
  return own
}

async function makeProjects(db: Db, organization: string, count: number): Promise<string[]> {
  const rows = Array.from({ length: count }, () => ({ own: id(), team: id() }))
  await db
    .insertInto('team')
    .values(rows.map(({ team }) => ({ id: team })))
    .execute()
  const values = rows.map(({ own, team }) => ({
    id: own,
    slug: `bench-${own}`,
    name: `Bench ${own}`,
    summary: 'A project to measure with.',
    description: 'x'.repeat(1000),
    status: 'approved' as const,
    license: 'MIT',
    team_id: team,
    organization_id: organization,
  }))
  for (let start = 0; start < values.length; start += 500)
    await db
      .insertInto('project')
      .values(values.slice(start, start + 500))
      .execute()
  return rows.map(({ own }) => own)
}

async function makeCollection(db: Db, owner: string, projects: string[]): Promise<string> {
  const own = id()
  await db.insertInto('collection').values({ id: own, account_id: owner, name: 'Bench', status: 'listed' }).execute()
  await db
    .insertInto('collection_project')
    .values(projects.map((project, position) => ({ collection_id: own, project_id: project, position })))
    .execute()
  return own
}

async function makeNotifications(db: Db, owner: string, count: number): Promise<string> {
  const rows = Array.from({ length: count }, () => ({
    id: id(),
    account_id: owner,
    body: JSON.stringify({ type: 'status_change', project_id: id(), old_status: 'processing', new_status: 'approved' }),
  }))
  for (let start = 0; start < rows.length; start += 1000)
    await db
      .insertInto('notification')
      .values(rows.slice(start, start + 1000))
      .execute()
  const { token, hash } = newToken('session')
  const later = new Date(Date.now() + DAY_MS)
  await db
    .insertInto('session')
    .values({
      id: id(),
      account_id: owner,
      token_hash: hash,
      expires: later,
      refresh_expires: later,
      user_agent: 'bench',
      ip: '127.0.0.1',
    })
    .execute()
  return token
}
