// Fine-grained tokens and tokens of trusted publishers, written by SQL.
import { GRANTABLE_SCOPES, type ScopeBits } from '#features/basics/access/scopes.ts'
import { hashToken, newToken } from '#lib/access/tokens.ts'
import { newId } from '#lib/ids.ts'
import { DAY_MS } from '#lib/time.ts'
import type { TestApp } from '../app/test-app.ts'

type Account = { id: string }

const PROVENANCE = {
  published: 'ci',
  issuer: 'https://builds.example',
  repository: 'lanterns/lamp',
  repository_id: null,
  commit: 'ab'.repeat(20),
  ref: 'refs/tags/v1',
  workflow: '.github/workflows/release.yml',
  run_url: null,
  event: 'push',
  runner: null,
}

/** Returns a token of the account that is limited to these projects and organizations. */
export async function limitedToken(
  { make, deps }: TestApp,
  account: Account,
  {
    projects,
    organizations,
    scopes = GRANTABLE_SCOPES,
  }: { projects?: string[]; organizations?: string[]; scopes?: ScopeBits },
): Promise<string> {
  const { token } = await make.pat(account as Parameters<typeof make.pat>[0], scopes)
  await deps.db
    .updateTable('personal_access_token')
    .set({ project_ids: projects ?? null, organization_ids: organizations ?? null })
    .where('token_hash', '=', hashToken(token))
    .execute()
  return token
}

/** Returns the token of a build of a new trusted publisher, which the account has added to the project. */
export async function publisherToken(
  { deps: { db, now } }: TestApp,
  account: Account,
  project: { id: string },
): Promise<string> {
  const { token, hash } = newToken('publisher')
  const publisherId = newId()
  await db
    .insertInto('trusted_publisher')
    .values({
      id: publisherId,
      project_id: project.id,
      issuer: PROVENANCE.issuer,
      repository: `lanterns/${publisherId}`,
      workflow: 'release.yml',
      created_by: account.id,
    })
    .execute()
  await db
    .insertInto('publisher_token')
    .values({
      id: newId(),
      publisher_id: publisherId,
      token_hash: hash,
      project_id: project.id,
      provenance: JSON.stringify(PROVENANCE),
      expires: new Date(now() + DAY_MS),
    })
    .execute()
  return token
}
