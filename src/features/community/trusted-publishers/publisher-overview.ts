// Trusted publishers as members see them.
import type { Viewer } from '#features/basics/access/viewer.ts'
import type { Db } from '#platform/db/db.ts'
import type { Deps } from '#ports/deps.ts'
import { getOwner, type OwnerName } from './publisher-owner.ts'
import { listPublishers, type PublisherFacts, type PublisherOwner } from './queries.ts'

export type PublisherOverview = {
  publishing: 'any' | 'trusted_only' | null
  issuers: { issuer: string; name: string; kind: string }[]
  /** Whether only trusted publishers can publish, and none works. */
  isBlocked: boolean
  warnings: string[]
  publishers: PublisherFacts[]
}

/** Returns the publishers as members see them. @throws ApiError 404, 403 for users who are not members. */
export async function getPublishers(deps: Deps, viewer: Viewer, name: OwnerName): Promise<PublisherOverview> {
  const owner = await getOwner(deps, viewer, name)
  const publishers = await listPublishers(deps.db, owner)
  const publishing = owner.project_id === null ? null : await getPublishing(deps.db, owner.project_id)
  const warnings: string[] = []
  const isBlocked = publishing === 'trusted_only' && !(await hasPublisher(deps.db, owner))
  if (isBlocked)
    warnings.push('Only trusted publishers can publish versions, but none works. Nobody can publish at present.')
  for (const { works, repository } of publishers) {
    if (!works)
      warnings.push(`The publisher ${repository} has stopped, because the user who added it is not a member any more.`)
  }
  const issuers = deps.config.ci.issuers.map(({ issuer, name: label, kind }) => ({ issuer, name: label, kind }))
  return { publishing, issuers, isBlocked, warnings, publishers }
}

async function getPublishing(db: Db, projectId: string): Promise<'any' | 'trusted_only'> {
  const row = await db.selectFrom('project').select('publishing').where('id', '=', projectId).executeTakeFirst()
  return row?.publishing === 'trusted_only' ? 'trusted_only' : 'any'
}

/** Returns whether the project, or its organization, has a publisher that works. */
async function hasPublisher(db: Db, { project_id }: PublisherOwner): Promise<boolean> {
  const project = await db
    .selectFrom('project')
    .select('organization_id')
    .where('id', '=', project_id ?? '')
    .executeTakeFirst()
  const own = project_id === null ? [] : await listPublishers(db, { project_id, organization_id: null })
  const organization_id = project?.organization_id ?? null
  const inherited = organization_id === null ? [] : await listPublishers(db, { project_id: null, organization_id })
  return [...own, ...inherited].some(({ works }) => works)
}
