// Creates rows for tests by SQL, not through the API under test, together with missing parent rows.

import { createHash } from 'node:crypto'
import { ALL_PROJECT_PERMISSIONS } from '#features/basics/access/permissions.ts'
import { ALL_SCOPES } from '#features/basics/access/scopes.ts'
import type { VersionStatus } from '#features/basics/access/version-status.ts'
import { newToken } from '#lib/access/tokens.ts'
import { newId } from '#lib/ids.ts'
import { DAY_MS } from '#lib/time.ts'
import type { Deps } from '#ports/deps.ts'
import type { ProjectStatus } from '#taxonomy/project-status.ts'

export type Person = { id: string; username: string; email: string; token: string }

/** So many people, as a list that can be taken apart. */
type People<Count extends number, Made extends Person[] = []> = number extends Count
  ? Person[]
  : Made['length'] extends Count
    ? Made
    : People<Count, [...Made, Person]>

export type MadeProject = { id: string; slug: string; teamId: string; owner: Person }

type AccountFields = {
  username?: string
  role?: 'developer' | 'moderator' | 'admin'
  email_verified?: boolean
  password_hash?: string
}
type ProjectFields = {
  owner?: Person
  slug?: string
  name?: string
  status?: string
  categories?: string[]
  organization_id?: string
}
type MemberFields = {
  teamId: string
  accountId: string
  isOwner?: boolean
  permissions?: number
  organizationPermissions?: number
  accepted?: boolean
}
type VersionFields = {
  project: MadeProject
  name?: string
  version_number?: string
  changelog?: string
  version_type?: 'release' | 'beta' | 'alpha'
  status?: string
  featured?: boolean
  ordering?: number
  loaders?: string[]
  game_versions?: string[]
  /** Loader fields in addition to `game_versions`. Default: an `environment` of `unknown`. */
  fields?: Record<string, unknown>
  date_published?: Date
}

export type Factories = ReturnType<typeof createFactories>

type FactoryDeps = Pick<Deps, 'db' | 'files' | 'now'> & Partial<Pick<Deps, 'cache'>>

/** Without a cache, the tested server is a separate process, which is not notified of these rows. */
export function createFactories({ db, cache, files, now }: FactoryDeps) {
  let count = 0
  const next = (): number => {
    count += 1
    return count
  }

  /** Creates accounts, each with a verified email address and a session. */
  async function accounts(fields: readonly AccountFields[]): Promise<Person[]> {
    const made = fields.map(({ username = `person-${next()}`, ...others }) => {
      const email = `${username.toLowerCase()}@example.org`
      const row = { id: newId(), username, email, email_verified: true, ...others }
      return { row, session: newSession(row.id) }
    })
    // One statement, because tests create thousands of accounts.
    await db
      .with('new_account', (query) => query.insertInto('account').values(made.map(({ row }) => row)))
      .insertInto('session')
      .values(made.map(({ session }) => session.row))
      .execute()
    return made.map(({ row: { id, username, email }, session: { token } }) => ({ id, username, email, token }))
  }

  async function account(fields: AccountFields = {}): Promise<Person> {
    const [person] = (await accounts([fields])) as [Person]
    return person
  }

  async function people<const Count extends number>(count: Count): Promise<People<Count>> {
    return (await accounts(Array.from({ length: count }, () => ({})))) as People<Count>
  }

  function newSession(account_id: string) {
    const { token, hash } = newToken('session')
    const row = {
      id: newId(),
      account_id,
      token_hash: hash,
      confirmed_at: new Date(now()),
      expires: new Date(now() + 14 * DAY_MS),
      refresh_expires: new Date(now() + 60 * DAY_MS),
      user_agent: 'depot-tests/1.0 (tests)',
      ip: '127.0.0.1',
    }
    return { token, row }
  }

  async function session(accountId: string): Promise<string> {
    const { token, row } = newSession(accountId)
    await db.insertInto('session').values(row).execute()
    return token
  }

  /** A personal access token of `person` with exactly these scopes. */
  async function pat(person: { id: string }, scopes: number = ALL_SCOPES): Promise<{ token: string }> {
    const { token, hash } = newToken('pat')
    await db
      .insertInto('personal_access_token')
      .values({
        id: newId(),
        account_id: person.id,
        name: 'test token',
        token_hash: hash,
        scopes,
        expires: new Date(now() + DAY_MS),
      })
      .execute()
    return { token }
  }

  /** Creates a project of `owner` with its own team. Default: approved. */
  async function project(fields: ProjectFields = {}): Promise<MadeProject> {
    const owner = fields.owner ?? (await account())
    const id = newId()
    const teamId = newId()
    const slug = fields.slug ?? `project-${next()}-${id.toLowerCase()}`
    await db.insertInto('team').values({ id: teamId }).execute()
    if (fields.organization_id === undefined) await member({ teamId, accountId: owner.id, isOwner: true })
    await db
      .with('new_project', (query) =>
        query.insertInto('project').values({
          id,
          slug,
          name: fields.name ?? `Project ${slug}`,
          summary: 'A project for a test.',
          description: '# Test',
          // Tests pass statuses as strings; the database rejects unknown ones.
          status: (fields.status ?? 'approved') as ProjectStatus,
          approved: (fields.status ?? 'approved') === 'draft' ? null : new Date(now()),
          requested_status: 'approved',
          license: 'MIT',
          categories: fields.categories ?? [],
          team_id: teamId,
          organization_id: fields.organization_id ?? null,
          published: new Date(now()),
          updated: new Date(now()),
        }),
      )
      .insertInto('thread')
      .values({ id: newId(), type: 'project', project_id: id })
      .execute()
    return { id, slug, teamId, owner }
  }

  /** Creates a team member. Default: accepted, with every project permission. */
  async function member(fields: MemberFields): Promise<void> {
    await db
      .insertInto('team_member')
      .values({
        team_id: fields.teamId,
        account_id: fields.accountId,
        role: fields.isOwner === true ? 'Owner' : 'Member',
        is_owner: fields.isOwner ?? false,
        permissions: fields.permissions ?? ALL_PROJECT_PERMISSIONS,
        organization_permissions: fields.organizationPermissions ?? null,
        accepted: fields.accepted ?? true,
      })
      .execute()
  }

  /** Removes the cached data of a project and of a version, as a command that writes to them does. */
  function touched(projectId: string, versionId: string): void {
    const changes = new Map([
      ['project', new Set([projectId])],
      ['version', new Set([versionId])],
    ])
    cache?.invalidate(changes)
  }

  /** Creates a version without files. Default: listed, for fabric on 1.20.1. */
  async function version(fields: VersionFields): Promise<{ id: string }> {
    const id = newId()
    await db
      .insertInto('version')
      .values({
        id,
        project_id: fields.project.id,
        author_id: fields.project.owner.id,
        name: fields.name ?? 'A version',
        version_number: fields.version_number ?? '1.0.0',
        changelog: fields.changelog ?? 'Changes.',
        version_type: fields.version_type ?? 'release',
        status: (fields.status ?? 'listed') as VersionStatus,
        featured: fields.featured ?? false,
        ordering: fields.ordering ?? null,
        loaders: fields.loaders ?? ['fabric'],
        fields: JSON.stringify({
          game_versions: fields.game_versions ?? ['1.20.1'],
          environment: 'unknown',
          ...fields.fields,
        }),
        date_published: fields.date_published ?? new Date(now()),
      })
      .execute()
    touched(fields.project.id, id)
    return { id }
  }

  /** A file with its bytes in the store. */
  async function file(fields: {
    version: { id: string }
    project: { id: string }
    bytes: Uint8Array
    filename?: string
    primary?: boolean
  }) {
    const id = newId()
    const sha1 = createHash('sha1').update(fields.bytes).digest('hex')
    const sha512 = createHash('sha512').update(fields.bytes).digest('hex')
    const storageKey = `versions/${fields.version.id}/${id}`
    await files.put(storageKey, fields.bytes, { contentType: 'application/java-archive' })
    await db
      .with('new_content', (query) =>
        query
          .insertInto('file_content')
          .values({ sha512, project_id: fields.project.id })
          .onConflict((conflict) => conflict.doNothing()),
      )
      .insertInto('file')
      .values({
        id,
        version_id: fields.version.id,
        filename: fields.filename ?? 'test.jar',
        size_bytes: fields.bytes.length,
        sha1,
        sha512,
        is_primary: fields.primary ?? true,
        content_type: 'application/java-archive',
        storage_key: storageKey,
      })
      .execute()
    touched(fields.project.id, fields.version.id)
    return { id, sha1, sha512, storageKey }
  }

  return { account, accounts, people, session, pat, project, member, version, file, next }
}
