// Query parameters of the list of accounts.
import Type, { type Static } from 'typebox'
import { checkAddressRange } from '#lib/address-range.ts'
import { validationError } from '#lib/errors.ts'
import { Id, NamedObject } from '#lib/schema/schema-parts.ts'
import { DAY_MS } from '#lib/time.ts'
import { Offset } from '#platform/http/query-values.ts'

export const ACCOUNT_ORDERS = ['newest', 'oldest', 'name', 'seen'] as const
export type AccountOrder = (typeof ACCOUNT_ORDERS)[number]
export const ROLES = ['developer', 'moderator', 'admin'] as const
/** Maximum number of accounts on a page, and of one cleanup. */
export const ACCOUNTS_MAX = 100

const day = (description: string) =>
  Type.Optional(Type.String({ maxLength: 64, description, examples: ['2026-01-31', '2026-01-31T18:30:00Z'] }))
const YesNo = (description: string) => Type.Optional(Type.Boolean({ description }))

export const AccountsQuery = Type.Object({
  query: Type.Optional(
    Type.String({
      maxLength: 256,
      description: 'Part of the username, for operators also of the email address; an ID',
    }),
  ),
  role: Type.Optional(Type.Enum([...ROLES], { description: 'Role of the accounts' })),
  suspended: YesNo('Whether the accounts are suspended'),
  waiting: YesNo('Whether the accounts wait for the approval of a moderator'),
  published: YesNo('Whether a project of the account was ever approved'),
  two_factor: YesNo('Whether the accounts have two-factor authentication'),
  registered_from: day('First day, or time, of the registration'),
  registered_to: day('Last day of the registration, or the time before which it was'),
  address_range: Type.Optional(
    Type.String({ maxLength: 64, description: 'IP address or range of the sign-up or the last sign-in' }),
  ),
  email_domain: Type.Optional(Type.String({ maxLength: 255, description: 'Domain of the email address' })),
  sort: Type.Optional(
    Type.Enum([...ACCOUNT_ORDERS], { default: 'newest', description: 'Sort order; `seen`: last sign-in first' }),
  ),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: ACCOUNTS_MAX, default: ACCOUNTS_MAX, description: 'Page size' }),
  ),
  offset: Offset,
})
type AccountsQuery = Static<typeof AccountsQuery>

export type AccountFilter = Pick<AccountsQuery, 'role' | 'suspended' | 'waiting' | 'published' | 'two_factor'> & {
  text?: string | undefined
  from?: Date | undefined
  before?: Date | undefined
  address_range?: string | undefined
  email_domain?: string | undefined
}

export const ApprovalInput = NamedObject('AccountApprovalCreate', {
  users: Type.Array(Id(), { minItems: 1, maxItems: ACCOUNTS_MAX, description: 'IDs of the accounts' }),
})

/** @throws ApiError `validation_error` naming the field. */
export function toAccountFilter(query: Omit<AccountsQuery, 'sort' | 'limit' | 'offset'>): AccountFilter {
  const { query: text = '', registered_from, registered_to, address_range, email_domain, ...exact } = query
  const domain = email_domain?.trim().replace(/^@/, '').toLowerCase()
  return {
    ...exact,
    text: text.trim() === '' ? undefined : text.trim(),
    from: timeOf(registered_from, 'registered_from', 0),
    // The filter includes all of the last day.
    before: timeOf(registered_to, 'registered_to', DAY_MS),
    address_range: address_range === undefined ? undefined : checkAddressRange(address_range.trim(), 'address_range'),
    email_domain: domain,
  }
}

/** Returns a time, or the start of a day moved by `moveMs`. */
function timeOf(text: string | undefined, field: string, moveMs: number): Date | undefined {
  if (text === undefined) return undefined
  const isDay = /^\d{4}-\d\d-\d\d$/.test(text)
  const at = Date.parse(isDay ? `${text}T00:00:00Z` : text)
  if (!/^\d{4}-\d\d-\d\d(T|$)/.test(text) || Number.isNaN(at))
    throw validationError(field, 'must be a day such as 2026-01-31, or a time such as 2026-01-31T18:30:00Z')
  return new Date(isDay ? at + moveMs : at)
}
