// Writes a row for an account into every table that can refer to one, by SQL. Tests use it to check the deletion and
// the data export of an account.

import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import { newId } from '#lib/ids.ts'
import { HOUR_MS } from '#lib/time.ts'
import type { Db } from '#platform/db/db.ts'
import { teamFactories } from './team-factories.ts'

type Account = { id: string }

const json = (value: unknown): string => JSON.stringify(value)
const hash = (): Buffer => Buffer.from(newId() + newId())
const soon = (): Date => new Date(Date.now() + HOUR_MS)

/** Every foreign key to an account, as `table.column`. */
export async function accountColumns(db: Db): Promise<{ table: string; column: string }[]> {
  const { rows } = await sql<{ table: string; column: string }>`
    select relname as "table", attname as "column" from pg_constraint
    join pg_class on pg_class.oid = conrelid
    join pg_attribute on attrelid = conrelid and attnum = conkey[1]
    where contype = 'f' and confrelid = 'account'::regclass order by 1, 2`.execute(db)
  return rows
}

/** Returns the row IDs by table, for tables with IDs. `other` is the second account that the rows refer to. */
export async function leaveEverything(db: Db, person: Account, other: Account): Promise<Record<string, string[]>> {
  const make = teamFactories(db)
  const account_id = person.id
  const [project, theirs] = [await make.project(person), await make.project(other)]
  const organization = await make.organization(person)
  await make.member(theirs.teamId, person)
  const versions = [await make.version(project.id, person), await make.version(theirs.id, other)] as const
  const talks = await talk(db, person, other)
  const money = await earn(db, person, theirs.id)
  const applications = await authorize(db, person, other)
  const [collection, pack, notification, told, image] = [newId(), newId(), newId(), newId(), newId()]
  const invitation = { type: 'team_invite', project_id: project.id, team_id: project.teamId, role: 'Member' }
  await db
    .insertInto('notification')
    .values([
      { id: notification, account_id, body: json({ type: 'report_submitted', report_id: talks.report }) },
      { id: told, account_id: other.id, body: json({ ...invitation, invited_by: account_id }) },
    ])
    .execute()
  await db.insertInto('collection').values({ id: collection, account_id, name: 'Lights' }).execute()
  await leavePack(db, person, { id: pack, projectId: theirs.id })
  await db.insertInto('follow').values({ account_id, project_id: theirs.id }).execute()
  const hook = { host: 'hooks.example', url: 'https://hooks.example/', format: 'standard' as const, events: ['*'] }
  await db
    .insertInto('webhook')
    .values([
      { ...hook, id: newId(), owner_kind: 'user' as const, account_id, secret: hash() },
      {
        ...hook,
        id: newId(),
        owner_kind: 'project' as const,
        project_id: theirs.id,
        created_by: account_id,
        secret: hash(),
      },
    ])
    .execute()
  await db
    .insertInto('advisory')
    .values({
      id: `x_TEST-${newId()}`,
      project_id: theirs.id,
      author_id: account_id,
      summary: 'It deletes worlds',
      details: 'In every world',
      created: new Date(),
      modified: new Date(),
    })
    .execute()
  await db
    .insertInto('follow_feed')
    .values({ account_id, secret_hash: Buffer.alloc(32, account_id) })
    .execute()
  const decision = {
    account_id,
    project_id: theirs.id,
    from_status: 'processing',
    to_status: 'approved',
    previous: '{}',
  }
  await db
    .insertInto('project_decision')
    .values({ ...decision, decided: new Date(), final_at: new Date() })
    .execute()
  await db
    .insertInto('personal_access_token')
    .values({
      id: newId(),
      account_id: other.id,
      created_by: account_id,
      name: 'For builds',
      token_hash: hash(),
      scopes: 1,
      expires: soon(),
    })
    .execute()
  await db.insertInto('email_setting').values({ account_id, kind: 'invitation', is_emailed: true }).execute()
  await db
    .insertInto('attention_dismissal')
    .values({ account_id, project_id: theirs.id, kind: 'incomplete_draft', until: new Date() })
    .execute()
  await db
    .insertInto('user_note')
    .values([
      { account_id, author_id: other.id, body: 'my words' },
      { account_id: other.id, author_id: account_id, body: 'Careful.' },
    ])
    .execute()
  await db.insertInto('terms_consent').values({ account_id, version: 1, agreed: new Date() }).execute()
  await db
    .insertInto('mail_delivery')
    .values({ account_id, at: new Date(), kind: 'test', is_sent: true, response: '250 OK' })
    .execute()
  await db
    .insertInto('page_version')
    .values({
      kind: 'imprint',
      number: sql`(select coalesce(max(number), 0) + 1 from page_version)`,
      text: 'Our imprint',
      published: new Date(),
      published_by: account_id,
    })
    .execute()
  await db
    .insertInto('report_claim')
    .values({ account_id, item_type: 'user', item_id: other.id, until: new Date() })
    .execute()
  await db.insertInto('moderation_claim').values({ account_id, project_id: theirs.id, until: new Date() }).execute()
  await db
    .insertInto('image')
    .values({
      id: image,
      owner_id: account_id,
      context: 'project',
      url: image,
      storage_key: image,
      size_bytes: 1,
      project_id: theirs.id,
    })
    .execute()
  await db.insertInto('upload').values({ id: newId(), account_id, length: 3, metadata: '', expires: soon() }).execute()
  await db
    .insertInto('trusted_publisher')
    .values({
      id: newId(),
      project_id: theirs.id,
      issuer: 'https://builds.example',
      repository: 'lanterns/lamp',
      workflow: 'release.yml',
      created_by: account_id,
    })
    .execute()
  const cleanup_id = newId()
  await db
    .insertInto('account_cleanup')
    .values({ id: cleanup_id, action: 'spam', created: new Date(), actor_id: account_id })
    .execute()
  const content = json({ projects: [], collections: [], organizations: [] })
  await db.insertInto('cleaned_account').values({ account_id, cleanup_id, bio: 'my words', content }).execute()
  await db
    .insertInto('account_origin')
    .values({ account_id, event: 'sign_up', at: new Date(), address_range: '192.0.2.0/24', user_agent: 'planted' })
    .execute()
  await db.insertInto('quota_override').values({ account_id, projects: 7001 }).execute()
  await db
    .insertInto('reserved_username')
    .values({ username: `was-${account_id}`, account_id, expires: soon() })
    .execute()
  await db
    .insertInto('previous_name')
    .values({ kind: 'account', name: `previous-${account_id.toLowerCase()}`, account_id })
    .execute()
  await db
    .insertInto('passkey')
    .values({
      id: newId(),
      account_id,
      name: 'My phone',
      credential_id: hash(),
      public_key: hash(),
      counter: 0,
      is_synced: false,
    })
    .execute()
  await db
    .insertInto('account_provider')
    .values({ account_id, provider: 'github', subject: newId(), name: 'planted' })
    .execute()
  await db.insertInto('backup_code').values({ account_id, code_hash: hash() }).execute()
  const former = { teams: [], follows: [{ project_id: theirs.id }], versions: [], applications: [], collections: [] }
  await db
    .insertInto('account_deletion')
    .values({ account_id, by_owner: true, handed_over: json(former) })
    .execute()
  await db
    .insertInto('account_flow')
    .values({
      account_id,
      token_hash: hash(),
      kind: 'verify_email',
      data: json({ email: 'planted@example.com' }),
      expires: soon(),
    })
    .execute()
  await db
    .insertInto('version_scan')
    .values({ version_id: versions[1], released_by: account_id, next_attempt: soon(), requested: soon() })
    .execute()
  await leaveTakedowns(db, person, { id: collection, name: 'Lights' })
  await sql`update project set followers = (select count(*) from follow where project_id = project.id)`.execute(db)
  return {
    ...applications,
    ...money,
    reserved_username: [`was-${account_id}`],
    previous_name: [`previous-${account_id.toLowerCase()}`],
    project: [project.id],
    organization: [organization.id],
    team_member: [project.teamId, theirs.teamId, organization.teamId],
    version: [versions[0]],
    version_scan: [versions[1]],
    report: [talks.report],
    thread_message: [talks.message],
    notification: [notification],
    collection: [collection],
    pack: [pack],
    follow: [theirs.id],
    image: [image],
  }
}

/** A pack with a save and a previous slug. */
async function leavePack(db: Db, { id: account_id }: Account, pack: { id: string; projectId: string }): Promise<void> {
  const lock_id = `${newId()}${newId()}${newId()}`.slice(0, 22)
  await db
    .insertInto('version_lock')
    .values({ id: lock_id, target: '{}', version_ids: [], sha1s: [], content: '{}' })
    .execute()
  const fields = { name: 'Lights', slug: 'lights', game_version: '1.20.1' }
  await db
    .insertInto('pack')
    .values({ id: pack.id, account_id, ...fields })
    .execute()
  await db.insertInto('pack_project').values({ pack_id: pack.id, project_id: pack.projectId, position: 0 }).execute()
  await db.insertInto('pack_save').values({ pack_id: pack.id, number: 1, lock_id }).execute()
  await db.insertInto('pack_previous_slug').values({ account_id, slug: 'lamps', pack_id: pack.id }).execute()
}

async function talk(db: Db, person: Account, other: Account): Promise<{ report: string; message: string }> {
  const report = async (by: Account, about: Account) => {
    const [id, thread] = [newId(), newId()]
    const fields = {
      report_type: 'spam',
      item_type: 'user' as const,
      account_id: about.id,
      item_id: about.id,
      body: 'Look',
    }
    await db
      .insertInto('report')
      .values({ id, reporter_id: by.id, ...fields })
      .execute()
    await db.insertInto('thread').values({ id: thread, type: 'report', report_id: id }).execute()
    return { id, thread }
  }
  const { id } = await report(person, other)
  const about = await report(other, person)
  const message = newId()
  const body = json({ type: 'text', body: 'my words', private: false, replying_to: null })
  await db
    .insertInto('thread_message')
    .values({ id: message, thread_id: about.thread, author_id: person.id, body })
    .execute()
  return { report: id, message }
}

async function earn(db: Db, person: Account, projectId: string): Promise<Record<string, string[]>> {
  const account_id = person.id
  const [code, given, payout] = [newId(), newId(), newId()]
  await db
    .insertInto('affiliate_code')
    .values([
      { id: code, account_id, created_by: account_id, source_name: 'Friends' },
      { id: given, account_id, source_name: 'More friends' },
    ])
    .execute()
  const [day, available] = [new Date(0), new Date(0)]
  await db
    .insertInto('affiliate_conversion')
    .values({
      external_id: newId(),
      affiliate_code_id: code,
      account_id,
      converted: day,
      amount: '2',
      revenue: '1',
      available,
    })
    .execute()
  const { id: part_id } = await db
    .insertInto('revenue_part')
    .values({ external_id: newId(), day, amount: '3' })
    .returning('id')
    .executeTakeFirstOrThrow()
  await db
    .insertInto('revenue_share')
    .values({ part_id, project_id: projectId, account_id, day, amount: '3', available })
    .execute()
  await db
    .insertInto('payout')
    .values({
      id: payout,
      external_id: newId(),
      account_id,
      amount: '1',
      status: 'success',
      address: 'planted@example.com',
    })
    .execute()
  return { affiliate_code: [code, given], payout: [payout] }
}

async function authorize(db: Db, person: Account, other: Account): Promise<Record<string, string[]>> {
  const account_id = person.id
  const [own, foreign, authorization, token] = [newId(), newId(), newId(), newId()]
  await db
    .insertInto('oauth_client')
    .values([
      { id: own, account_id, name: 'Lantern app', max_scopes: 2 },
      { id: foreign, account_id: other.id, name: 'Torch app', max_scopes: 2 },
    ])
    .execute()
  const allowed = { client_id: foreign, account_id, scopes: 2 }
  await db
    .insertInto('oauth_authorization')
    .values({ id: authorization, ...allowed })
    .execute()
  const granted = { authorization_id: authorization, ...allowed, expires: soon() }
  const redirect_uri = 'https://torch.example/back'
  await db
    .insertInto('oauth_token')
    .values({ id: token, ...granted, token_hash: hash(), code_hash: hash() })
    .execute()
  await db
    .insertInto('oauth_code')
    .values({ ...granted, code_hash: hash(), redirect_uri })
    .execute()
  await db
    .insertInto('oauth_flow')
    .values({ ...allowed, flow_hash: hash(), redirect_uri, expires: soon() })
    .execute()
  await db
    .insertInto('rate_limit_grant')
    .values({ id: newId(), token_id: token, requests_per_minute: 600, note: `for ${account_id}` })
    .execute()
  return { oauth_client: [own], oauth_authorization: [authorization], oauth_token: [token] }
}

/** A takedown by the person, one of their profile, and one of their collection. */
async function leaveTakedowns(db: Db, { id }: Account, collection: { id: string; name: string }): Promise<void> {
  const nothing = { projects: [], versions: [], collection: null, user: null }
  const of = { created: new Date(), reason: 'spam', reference: '' }
  const url = `https://images.example.org/${newId()}.png`
  const blocked = { id: createHash('sha256').update(url).digest('hex'), url, created: new Date(), blocked_by_id: id }
  await db.insertInto('blocked_external_image').values(blocked).execute()
  await db
    .insertInto('takedown')
    .values([
      {
        ...of,
        id: newId(),
        actor_id: id,
        undone: new Date(),
        undone_by_id: id,
        kind: 'project',
        target: newId(),
        visibility: 'rejected',
        before: json(nothing),
      },
      {
        ...of,
        id: newId(),
        kind: 'user',
        target: id,
        visibility: 'cleared',
        before: json({ ...nothing, user: { id, username: 'gone', text: 'my words' } }),
      },
      {
        ...of,
        id: newId(),
        kind: 'collection',
        target: collection.id,
        visibility: 'rejected',
        before: json({ ...nothing, collection: { ...collection, status: 'listed', owner_id: id } }),
      },
    ])
    .execute()
}
