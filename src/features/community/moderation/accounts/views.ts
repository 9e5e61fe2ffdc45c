// Response schemas of the list of accounts.
import Type, { type Static } from 'typebox'
import { hasSecondFactor, isSuspended } from '#features/basics/access/accounts.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { Role } from '#features/people/users/views.ts'
import { NamedObject, Nullable, Timestamp, toView } from '#lib/schema/schema-parts.ts'
import { seesEmails } from './policy.ts'
import type { ListedAccount } from './queries.ts'
import { RELATIONS, type Related } from './related.ts'

const OriginView = Type.Object({
  event: Type.Enum(['sign_up', 'sign_in'], { description: '`sign_in`: the last sign-in' }),
  at: Timestamp,
  address_range: Type.String({ description: '24 bits of an IPv4 address, 48 bits of an IPv6 address' }),
  device: Nullable(Type.String({ description: 'Program and operating system' })),
})

const ListedAccountView = NamedObject('ListedAccount', {
  id: Type.String(),
  username: Type.String(),
  role: Role,
  created: Timestamp,
  email: Nullable(Type.String({ description: 'Only for operators' })),
  email_domain: Nullable(Type.String()),
  two_factor: Type.Boolean(),
  suspended: Type.Boolean(),
  waiting: Type.Boolean({ description: 'Whether the account waits for the approval of a moderator' }),
  deletion_due: Nullable(Timestamp),
  projects: Type.Integer({ description: 'Number of projects that the account owns' }),
  public_projects: Type.Integer(),
  last_sign_in: Nullable(Timestamp),
  origins: Type.Array(OriginView, { description: 'Origins of the last 90 days' }),
})

export const AccountListView = NamedObject('AccountList', {
  total: Type.Integer(),
  users: Type.Array(ListedAccountView),
})

export const RelatedView = NamedObject('RelatedAccounts', {
  users: Type.Array(
    Type.Object({
      ...ListedAccountView.properties,
      relations: Type.Array(
        Type.Enum([...RELATIONS], {
          description:
            '`address`: the same address range within 90 days. `device`: the same User-Agent. `domain`: the same email domain. ' +
            '`link`: a project with the same link',
        }),
      ),
    }),
    { description: 'At most 50 accounts, those with most relations first' },
  ),
  projects: Type.Array(
    Type.Object({
      id: Type.String(),
      slug: Type.String(),
      name: Type.String(),
      status: Type.String(),
      link: Type.String({ description: 'Link that a project of the account has too' }),
      owner_id: Type.String(),
    }),
    { description: 'At most 50 projects of other users with the same links, newest first' },
  ),
})

export const toRelatedView = (viewer: Viewer, { accounts, projects }: Related, nowMs: number) => ({
  users: accounts.map((account) => ({ ...toListedAccountView(viewer, account, nowMs), relations: account.relations })),
  projects,
})

export const ApprovedView = NamedObject('ApprovedAccounts', {
  count: Type.Integer({ description: 'Number of approved accounts' }),
})

export const emailDomain = ({ email }: { email: string | null }): string | null =>
  email === null ? null : email.slice(email.lastIndexOf('@') + 1).toLowerCase()

export function toListedAccountView(
  viewer: Viewer,
  account: ListedAccount,
  nowMs: number,
): Static<typeof ListedAccountView> {
  return toView(ListedAccountView, {
    ...account,
    email: seesEmails(viewer) ? account.email : null,
    email_domain: emailDomain(account),
    two_factor: hasSecondFactor(account),
    suspended: isSuspended(account, nowMs),
    waiting: account.awaits_approval,
    public_projects: account.publicProjects,
    last_sign_in: account.seen,
    origins: account.origins.map((origin) => toView(OriginView, origin)),
  })
}
