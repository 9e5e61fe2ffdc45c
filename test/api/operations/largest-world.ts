// A world in which everything that has no limit exists 1,100 times, and the rest nearly as often as its limit allows.
import { sql } from 'kysely'
import { SYSTEM } from '#features/basics/audit/actor.ts'
import { createInvitation } from '#features/people/accounts/invitations/create-invitation.ts'
import { toInvitation } from '#features/people/accounts/invitations/requests.ts'
import { newId } from '#lib/ids.ts'
import type { Person } from '#test/support/factories/factories.ts'
import { addNotifications, copyRow } from '#test/support/factories/largest.ts'
import { createWorld, ROLES, THING_NAMES, type Thing, type World } from './world.ts'

/** More than the rows that an operation can read or change. */
const MANY = 1_100

/** Returns a world with the same people, project, organization, collection and report. The rest is made again. */
export async function renew(world: World): Promise<World> {
  const { make } = world.t
  const people = ROLES.map(async (role): Promise<[string, Promise<Person>]> => {
    const person = await world.person(role)
    // An operation can end every session.
    return [`person ${role}`, Promise.resolve({ ...person, token: await make.session(person.id) })]
  })
  const { db } = world.t.deps
  const [owner, member] = [await world.id('owner'), await world.id('member')]
  await db.updateTable('account').set({ totp_secret: null, totp_last_step: 0 }).where('id', '=', owner).execute()
  await db.updateTable('team_member').set({ accepted: true }).where('account_id', '=', member).execute()
  const made = new Map<string, Promise<unknown>>(await Promise.all(people))
  made.set('project', world.project())
  made.set('organization', world.organization())
  made.set('report', world.report())
  made.set('thing collection', world.id('collection'))
  made.set('thing pack', world.id('pack'))
  return createWorld(world.t, { made })
}

type Source = {
  /** The IDs of the rows that are copied. */
  own: Readonly<Record<Thing, string>>
  /** SQL for the ID of the copy `n`. The letter distinguishes the copies in one table. */
  id(letter?: string): string
  /** SQL for a unique name. */
  name(letter?: string): string
  /** SQL for a unique hash. */
  hash(letter?: string): string
  copy(table: string, key: Record<string, string>, changes: Record<string, string>, count?: number): Promise<void>
}

/** Copies everything that belongs to the owner and the stranger, or to the owner's project, organization and collection. */
export async function enlarge(world: World): Promise<void> {
  const { db, cache } = world.t.deps
  const own = {} as Record<Thing, string>
  for (const thing of THING_NAMES) own[thing] = await world.id(thing)
  const prefix = newId().slice(0, 3)
  const source: Source = {
    own,
    id: (letter = 'a') => `'${prefix}${letter}' || lpad(n::text, 4, '0')`,
    name: (letter = 'a') => `'${prefix.toLowerCase()}${letter}-' || n`,
    hash: (letter = 'a') => `sha256(convert_to('${prefix}${letter}' || n, 'utf8'))`,
    copy: (table, key, changes, count = MANY) => copyRow(db, table, key, changes, count),
  }
  await addPeople(world, source)
  await addProjects(world, source)
  await addVersions(world, source)
  for (const [letter, person] of [
    ['o', own.owner],
    ['s', own.stranger],
  ] as const) {
    await addNotifications(world.t, person, 2 * MANY, `${prefix}${letter}`)
    await addToAccount(world, source, { letter, person })
  }
  await addTalk(source)
  await addForOperators(world, source)
  await sql`update project set followers = (select count(*) from follow where project_id = project.id)`.execute(db)
  await sql`analyze`.execute(db)
  cache.clear()
}

/** Members of both teams, followers, suspended accounts and service accounts. */
async function addPeople(world: World, { own, id, name, copy }: Source): Promise<void> {
  const { db } = world.t.deps
  await copy('account', { id: own.member }, { id: id(), username: name(), email: 'null' })
  const suspended = { suspended_at: 'now()', suspension_reason: `'Advertising'` }
  await copy('account', { id: own.member }, { id: id('u'), username: name('u'), email: 'null', ...suspended })
  await copy('account', { id: own.serviceAccount }, { id: id('w'), username: name('w') }, 15)
  for (const team_id of [own.team, own.organizationTeam])
    await copy('team_member', { team_id, account_id: own.member }, { account_id: id() }, 990)
  const follow = { account_id: own.member, project_id: own.project }
  await db.insertInto('follow').values(follow).execute()
  await copy('follow', follow, { account_id: id() })
}

/** Projects of the organization, which depend on the project, and projects of the owner that are not public. */
async function addProjects(world: World, { own, id, name, copy }: Source): Promise<void> {
  const { db } = world.t.deps
  const { project: project_id, organizationProject } = own
  await copy('team', { id: own.team }, { id: id() })
  await copy('team', { id: own.team }, { id: id('q') }, 2 * MANY)
  const of = { id: own.organizationProject }
  // The key by which random projects are chosen.
  const random_key = 'floor(random() * 2147483648)::integer'
  await copy('project', of, { id: id(), slug: name(), team_id: id(), downloads: 'n', random_key })
  const status = `case n % 2 when 0 then 'processing' else 'draft' end`
  const others = { id: id('q'), slug: name('q'), team_id: id('q'), organization_id: 'null', queued: 'now()' }
  await copy('project', of, { ...others, status }, 2 * MANY)
  const draft = id('q').replace('n::', '(2 * n - 1)::')
  await copy('team_member', { team_id: own.team, account_id: own.owner }, { team_id: draft }, MANY)
  await copy('thread', { project_id: organizationProject }, { id: id(), project_id: id() })
  await copy('version', { id: own.version }, { id: id(), project_id: id() })
  const needed = { dependent_id: own.version, project_id, dependency_type: 'required' } as const
  await db.insertInto('dependency').values(needed).execute()
  await copy('dependency', { dependent_id: own.version }, { dependent_id: id() })
  const followed = { account_id: own.owner, project_id: organizationProject }
  await db.insertInto('follow').values(followed).execute()
  await copy('follow', followed, { project_id: id() })
  await sql`insert into collection_project (collection_id, project_id, position)
    select ${own.collection}, ${sql.raw(id())}, n - 1 from generate_series(1, 1024) n`.execute(db)
  for (const [key, changes] of [
    [own.projectPublisher, { id: id(), repository: name() }],
    [own.organizationPublisher, { id: id('o'), repository: name() }],
  ] as const)
    await copy('trusted_publisher', { id: key }, changes, 90)
  await copy('webhook', { id: own.webhook }, { id: id() }, 15)
  await copy('webhook_delivery', { webhook_id: own.webhook }, { id: id() })
}

/** Versions of the project with files and scans, advisories, previous names and images. */
async function addVersions(world: World, { own, id, name, copy }: Source): Promise<void> {
  const { db } = world.t.deps
  const project_id = own.project
  const now = new Date()
  await copy('version', { id: own.version }, { id: id('v'), version_number: `'1.0.' || n` })
  await copy('file', { sha512: own.fileHash }, { id: id('v'), version_id: id('v') })
  await copy('dependency', { dependent_id: own.version }, { dependent_id: id('v') })
  const scan = { version_id: own.version, state: 'quarantine', next_attempt: now, requested: now } as const
  await db.insertInto('version_scan').values(scan).execute()
  await copy('version_scan', { version_id: own.version }, { version_id: id('v') })
  const words = { summary: 'Steals tokens', details: '', status: 'published', published: now } as const
  const advisory = { id: newId(), project_id, author_id: own.owner, ...words, created: now, modified: now }
  await db.insertInto('advisory').values(advisory).execute()
  await copy('advisory', { project_id }, { id: id() })
  await db.insertInto('previous_name').values({ kind: 'project', name: newId(), project_id }).execute()
  await copy('previous_name', { project_id }, { name: name() })
  const image = { id: newId(), owner_id: own.owner, context: 'project', storage_key: newId(), url: newId() } as const
  await db
    .insertInto('image')
    .values({ ...image, project_id, size_bytes: 1 })
    .execute()
  await copy('image', { id: image.id }, { id: id(), storage_key: id(), url: id() }, 100)
  const item = { id: newId(), project_id, url: newId(), raw_url: newId(), content_sha1: newId() }
  await db.insertInto('gallery_item').values(item).execute()
  const pictures = { id: id(), url: id(), raw_url: id(), content_sha1: id(), ordering: 'n' }
  await copy('gallery_item', { id: item.id }, pictures, 60)
  await db.deleteFrom('gallery_item').where('id', '=', item.id).execute()
}

/** Organizations, collections, reports, money and tokens of an account. */
async function addToAccount(
  world: World,
  { own, id, name, hash, copy }: Source,
  { letter, person }: { letter: string; person: string },
): Promise<void> {
  const { db } = world.t.deps
  const [own_id, account_id] = [id(letter), `'${person}'`]
  await copy('team', { id: own.organizationTeam }, { id: own_id }, MANY)
  await copy('organization', { id: own.organization }, { id: own_id, slug: name(letter), team_id: own_id }, MANY)
  const founder = { team_id: own.organizationTeam, account_id: own.owner }
  await copy('team_member', founder, { team_id: own_id, account_id }, MANY)
  await copy('collection', { id: own.collection }, { id: own_id, account_id })
  await copy('pack', { id: own.pack }, { id: own_id, account_id, slug: name(letter) }, 60)
  await copy('pack_save', { pack_id: own.pack, number: '1' }, { pack_id: own_id }, 60)
  await copy('report', { id: own.report }, { id: own_id, reporter_id: account_id, closed: 'true' })
  await copy('thread', { report_id: own.report }, { id: own_id, report_id: own_id })
  const about = { item_id: account_id, account_id, reporter_id: id() }
  await copy('report', { id: own.report }, { id: id(letter.toUpperCase()), ...about })
  await copy('payout', { id: own.payout }, { id: own_id, external_id: name(letter), account_id })
  await copy('affiliate_conversion', { account_id: own.owner }, { external_id: name(letter), account_id })
  await copy('affiliate_code', { id: own.affiliateCode }, { id: own_id, account_id }, 200)
  const token = { id: own_id, token_hash: hash(letter), account_id }
  await copy('session', { id: own.session }, token, 90)
  await copy('personal_access_token', { id: own.pat }, token, 150)
  await copy('oauth_client', { id: own.application }, { id: own_id, account_id }, 50)
  const client = { id: newId(), client_id: own.application, account_id: person, scopes: 2 }
  await db.insertInto('oauth_authorization').values(client).execute()
}

/** Messages, and applications that the owner has authorized. */
async function addTalk({ own, id, copy }: Source): Promise<void> {
  await copy('thread_message', { id: own.message }, { id: id('t'), thread_id: `'${own.thread}'` })
  await copy('thread_message', { id: own.message }, { id: id('m') })
  await copy('oauth_client', { id: own.application }, { id: id(), account_id: `'${own.stranger}'` })
  await copy('oauth_authorization', { account_id: own.owner }, { id: id(), client_id: id() })
}

/** Entries of the lists of moderators and operators. */
async function addForOperators(world: World, { own, id, hash, copy }: Source): Promise<void> {
  const { deps } = world.t
  const { db, pool } = deps
  const entry = { action: 'account.signed_in', actor_kind: 'account', actor_id: own.owner } as const
  await db
    .insertInto('audit_entry')
    .values({ ...entry, account_ids: [own.owner, own.stranger] })
    .execute()
  await copy('audit_entry', { actor_id: own.owner }, {})
  await copy('saved_reply', { id: own.savedReply }, { id: id() }, 450)
  const address_range = `set_masklen('11.0.0.0'::cidr + n * 256, 24)`
  await copy('rate_limit_grant', { id: own.grant }, { id: id(), address_range }, 900)
  const invitation = await createInvitation(deps, SYSTEM, toInvitation({}, deps.now()))
  await copy('invitation', { id: invitation.id }, { id: id(), code_hash: hash() })
  const mail = { account_id: own.owner, at: new Date(), kind: 'test', is_sent: true, response: '250 OK' }
  await db.insertInto('mail_delivery').values(mail).execute()
  await copy('mail_delivery', { account_id: own.owner }, {})
  await pool.query(`select graphile_worker.add_job('files.remove', '{"keys":[]}', run_at => now() + interval '1 day')
    from generate_series(1, ${MANY})`)
  await pool.query(`update graphile_worker._private_jobs set attempts = max_attempts, last_error = 'The disk is full'`)
}
