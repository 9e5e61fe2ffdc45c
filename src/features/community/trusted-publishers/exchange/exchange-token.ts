// Exchanges a token of a build for a token that publishes in one project or organization for 15 minutes.
import { sql } from 'kysely'
import type { Actor } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { newToken, parseToken } from '#lib/access/tokens.ts'
import { ApiError, invalidInput } from '#lib/errors.ts'
import { newId } from '#lib/ids.ts'
import { MINUTE_MS } from '#lib/time.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { CiIssuer } from '#platform/config/ci-issuers.ts'
import type { Db, Tx } from '#platform/db/db.ts'
import { recordEvent } from '#platform/telemetry/events.ts'
import type { Deps } from '#ports/deps.ts'
import { subjectOf } from '../publisher-owner.ts'
import { findProjectId, listCandidates, type PublisherFacts } from '../queries.ts'
import { type BuildClaims, proposalOf, readClaims } from './claims.ts'
import type { IssuerKeys } from './issuer-keys.ts'
import { matchPublishers } from './match-publisher.ts'
import { type ExchangeFacts, RefusedToken } from './refusal.ts'
import { type VerifiedToken, verifyToken } from './verify-token.ts'

const LIFETIME_MS = 15 * MINUTE_MS
/** Maximum number of projects in the response. The token of an organization works for all of them. */
const PROJECTS_MAX = 1_000

export type ExchangeDeps = Pick<Deps, 'db' | 'cache' | 'config' | 'now' | 'log' | 'metrics'> & { keys: IssuerKeys }

export type ExchangedToken = {
  access_token: string
  token_type: 'Bearer'
  expires_in: number
  projects: string[]
  publisher: { id: string; repository: string; workflow: string }
}

type Exchange = { text: string; project: string | undefined; address: string }

/** Writes an audit entry for each outcome. @throws RefusedToken, ApiError 424, 400 naming `project`. */
export async function exchangeToken(deps: ExchangeDeps, exchange: Exchange): Promise<ExchangedToken> {
  const actor: Actor = { kind: 'anonymous', address: exchange.address }
  try {
    const result = await exchangeVerified(deps, exchange, actor)
    recordEvent(deps, 'publishing.exchanged', { publisher_id: result.publisher.id })
    return result
  } catch (error) {
    if (error instanceof RefusedToken || (error instanceof ApiError && error.status < 500)) {
      const code = error instanceof RefusedToken ? error.refusal : error.kind
      const facts: ExchangeFacts = error instanceof RefusedToken ? error.facts : {}
      await recordAudit(deps.db, { action: 'publishing.refused', actor, details: { code, ...facts } })
      recordEvent(deps, 'publishing.refused')
    }
    throw error
  }
}

async function exchangeVerified(
  deps: ExchangeDeps,
  { text, project }: Exchange,
  actor: Actor,
): Promise<ExchangedToken> {
  const { issuers, audience } = deps.config.ci
  const now = deps.now()
  const verified = await verifyToken(text, { issuers, audience, keys: deps.keys, now })
  const build = readClaims(verified.issuer, verified.payload)
  const facts = { issuer: verified.issuer.issuer, repository: build.repository, run: build.run }
  const projectId = project === undefined ? undefined : await findProjectId(deps.db, project)
  if (project !== undefined && projectId === undefined)
    throw new RefusedToken('no_publisher', 'No project with a trusted publisher has this ID or slug', facts)
  const publisher = await choosePublisher(deps.db, { issuer: verified.issuer, build, projectId, facts })
  const proposal = proposalOf(verified.issuer, build)
  if (proposal !== undefined) throw new RefusedToken('event', proposal, facts)
  const { token, hash } = newToken('publisher')
  const projects = await transaction(deps, async (tx) => {
    await pinRepository(tx, publisher, { build, isNamed: projectId !== undefined, now, facts })
    const ownProject = publisher.project_id ?? projectId ?? null
    const provenance = toProvenance(verified.issuer, build)
    const isNew = await insertToken(tx, verified, { hash, publisherId: publisher.id, ownProject, provenance, now })
    if (!isNew) throw new RefusedToken('replayed', 'The token was already used. Request a new token', facts)
    const subject = subjectOf(publisher)
    const accountIds = publisher.created_by === null ? [] : [publisher.created_by]
    const details = { ...facts, publisher: publisher.id, commit: build.commit }
    await recordAudit(tx, { action: 'publishing.exchanged', actor, subject, accountIds, details })
    return ownProject === null ? listProjectIds(tx, publisher.organization_id ?? '') : [ownProject]
  })
  return {
    access_token: token,
    token_type: 'Bearer',
    expires_in: LIFETIME_MS / 1000,
    projects,
    publisher: { id: publisher.id, repository: build.repository, workflow: publisher.workflow },
  }
}

type Choice = { issuer: CiIssuer; build: BuildClaims; projectId: string | undefined; facts: ExchangeFacts }

/**
 * A build that names its project uses the publisher of the project, or that of its organization. A build that names none
 * gets the only proven publisher, because others can add publishers that name its repository.
 * @throws RefusedToken `no_publisher` with the first difference; 400 naming `project` if the build must name the project.
 */
async function choosePublisher(db: Db, { issuer, build, projectId, facts }: Choice): Promise<PublisherFacts> {
  const { repository, repositoryId } = build
  const candidates = await listCandidates(db, { issuer: issuer.issuer, repository, repositoryId, projectId })
  const { matching, difference } = matchPublishers(candidates, build)
  if (matching.length === 0) {
    const reason = difference ?? `no trusted publisher names the repository \`${repository}\``
    throw new RefusedToken('no_publisher', `The build is not a trusted publisher: ${reason}`, facts)
  }
  const usable = projectId === undefined ? matching.filter(({ proven }) => proven !== null) : matching
  const owners = new Set(usable.map(({ project_id, organization_id }) => project_id ?? organization_id))
  const [first] = usable
  if (first === undefined) {
    const reason = 'No build that names its project has used this trusted publisher yet'
    throw invalidInput(`${reason}. Name the project in \`project\``, 'project')
  }
  if (owners.size > 1 && projectId === undefined)
    throw invalidInput('The build is a trusted publisher of several projects. Name one of them in `project`', 'project')
  return usable.find(({ project_id }) => project_id !== null) ?? first
}

type NewPublisherToken = {
  hash: Buffer
  publisherId: string
  ownProject: string | null
  provenance: Record<string, string | null>
  now: number
}

/**
 * Inserts the token and remembers the build's token, in one statement. Returns false if the build's token was exchanged
 * before, also in a concurrent request.
 */
async function insertToken(
  tx: Tx,
  { issuer, tokenId, rememberUntil }: VerifiedToken,
  { hash, publisherId, ownProject, provenance, now }: NewPublisherToken,
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    with claimed as (
      insert into used_ci_token (issuer, token_id, expires) values (${issuer.issuer}, ${tokenId}, ${rememberUntil})
      on conflict do nothing returning 1)
    insert into publisher_token (id, publisher_id, token_hash, project_id, provenance, created, expires)
    select ${newId()}, ${publisherId}, ${hash}::bytea, ${ownProject}, ${JSON.stringify(provenance)}::jsonb,
      ${new Date(now)}::timestamptz, ${new Date(now + LIFETIME_MS)}::timestamptz from claimed`.execute(tx)
  return numAffectedRows === 1n
}

/**
 * The IDs of the first build identify the repository from now on; its name can change, unless another publisher of the
 * same project has it. A build that names its project proves the publisher.
 * @throws RefusedToken if the publisher was removed, or a concurrent exchange has pinned another repository.
 */
async function pinRepository(
  tx: Tx,
  { id }: PublisherFacts,
  { build, isNamed, now, facts }: { build: BuildClaims; isNamed: boolean; now: number; facts: ExchangeFacts },
): Promise<void> {
  const [repositoryId, ownerId] = [build.repositoryId ?? null, build.ownerId ?? null]
  const { numAffectedRows } = await sql`
    update trusted_publisher publisher set
      repository_id = coalesce(repository_id, ${repositoryId}), owner_id = coalesce(owner_id, ${ownerId}),
      last_used = ${new Date(now)},
      proven = case when ${isNamed} then coalesce(proven, ${new Date(now)}) else proven end,
      repository = case when exists (select from trusted_publisher other where other.id <> publisher.id
        and other.project_id is not distinct from publisher.project_id
        and other.organization_id is not distinct from publisher.organization_id
        and other.repository = ${build.repository}) then repository else ${build.repository} end
    where id = ${id} and coalesce(repository_id, ${repositoryId}) is not distinct from ${repositoryId}
      and coalesce(owner_id, ${ownerId}) is not distinct from ${ownerId}`.execute(tx)
  if (numAffectedRows !== 1n)
    throw new RefusedToken('no_publisher', 'The trusted publisher was changed during the exchange. Try again', facts)
}

/** The claims that the version shows. */
function toProvenance({ issuer }: CiIssuer, build: BuildClaims): Record<string, string | null> {
  return {
    published: 'ci',
    issuer,
    repository: build.repository,
    repository_id: build.repositoryId ?? null,
    commit: build.commit,
    ref: build.ref,
    workflow: build.workflow,
    run_url: build.runUrl ?? null,
    event: build.event,
    runner: build.runner ?? null,
  }
}

async function listProjectIds(db: Db, organizationId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('project')
    .select('id')
    .where('organization_id', '=', organizationId)
    .orderBy('id')
    .limit(PROJECTS_MAX)
    .execute()
  return rows.map(({ id }) => id)
}

/** Ends a token of a build before its time. Does nothing for other texts. */
export async function endPublisherToken(db: Db, text: string | undefined): Promise<void> {
  const token = text === undefined ? undefined : parseToken(text)
  if (token?.kind !== 'publisher') return
  await sql`delete from publisher_token where token_hash = ${token.hash}`.execute(db)
}
