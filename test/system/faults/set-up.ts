// The people and things that the writers work with.
import { projectData } from '#test/support/http/forms.ts'
import { depot } from '#test/support/processes/running-depot.ts'
import type { Instance } from './instance.ts'
import { call, type Ledger, PASSWORD, publish } from './writers.ts'

const FOLLOWERS = 2

/** An author, followers, and a project with its first version, on a Depot that has none of them. */
export async function setUp(instance: Instance): Promise<Ledger> {
  const author = ['user', 'create', '--username', 'author', '--email', 'author@example.org', '--password', PASSWORD]
  const made = await depot(instance.dataDir, [...author, '--role', 'admin'], instance.env)
  if (made.code !== 0) throw new Error(made.stderr)
  const admin = await sessionOf(instance, '/_internal/auth/login', { username: 'author', password: PASSWORD })
  // All users come from one address.
  const settings = { sign_ups_per_range: 1000 }
  await call(instance, '/_internal/admin/settings', { method: 'PATCH', token: admin, json: settings })
  const fan = await sessionOf(instance, '/_internal/auth/create', {
    username: 'fan',
    email: 'fan@example.org',
    password: PASSWORD,
  })
  const idOf = async (token: string) => String((await call(instance, '/v3/user', { token }))?.json['id'])
  const followers: Ledger['followers'] = []
  for (let n = 0; n < FOLLOWERS; n += 1) {
    const json = { username: `follower-${n}`, email: `follower-${n}@example.org`, password: PASSWORD }
    followers.push({ token: await sessionOf(instance, '/_internal/auth/create', json), follows: false })
  }
  const code = await call(instance, '/_internal/affiliate', {
    method: 'POST',
    token: admin,
    json: { source_name: 'Shop' },
  })
  const slug = `faults-${process.pid.toString(36)}`
  const project = await call(instance, '/v3/project', { method: 'POST', token: admin, json: projectData(slug) })
  const ledger: Ledger = {
    admin,
    author: admin,
    authorId: await idOf(admin),
    fan: { id: await idOf(fan), token: fan },
    followers,
    affiliateCode: String(code?.json['id']),
    project: { id: String(project?.json['id']), slug },
    versions: new Map(),
    listed: new Set(),
    collections: new Set(),
    conversions: new Map(),
    payouts: new Map(),
    revenue: new Map(),
    days: new Map(),
    sessions: [],
    releases: new Map(),
    icons: 0,
    summary: { acknowledged: 0, asked: 0 },
    downloads: { acknowledged: [], asked: 0 },
    improper: [],
    answers: new Map(),
  }
  if (!(await publish(instance, ledger))) throw new Error(`No version: ${ledger.improper.join()}`)
  const json = { status: 'approved' }
  const approved = await call(instance, `/v3/project/${slug}`, { method: 'PATCH', token: admin, json })
  if (approved?.status !== 204) throw new Error(`Not approved: ${JSON.stringify(approved)}`)
  const path = `/v3/project/${ledger.project.id}/follow`
  const followed = await call(instance, path, { method: 'POST', token: ledger.fan.token })
  if (followed?.status !== 204) throw new Error(`Not followed: ${JSON.stringify(followed)}`)
  return ledger
}

async function sessionOf(instance: Instance, path: string, json: object): Promise<string> {
  const answer = await call(instance, path, { method: 'POST', json })
  if (typeof answer?.json['session'] !== 'string') throw new Error(`${path}: ${JSON.stringify(answer)}`)
  return answer.json['session']
}
