// The list of accounts: its URL with filters, order and page, and what it shows.
import type { FastifyReply } from 'fastify'
import type { ListedAccount } from '#features/community/moderation/accounts/queries.ts'
import {
  ACCOUNT_ORDERS,
  type AccountFilter,
  type AccountOrder,
  AccountsQuery,
  toAccountFilter,
} from '#features/community/moderation/accounts/requests.ts'
import type { CleanupRow } from '#features/community/moderation/cleanup/queries.ts'
import type { CleanupAction } from '#features/community/moderation/cleanup/requests.ts'
import { checkValues, type FormRefusal } from '#web/kit/forms/read-form.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import { pageNumber, withQuery } from '#web/kit/paths.ts'
import type { PageRequest } from '#web/kit/request.ts'
import type { WorkPage } from '#web/kit/work-page.ts'
import type { Part } from '#web/ui/html.ts'

const TEXTS = ['query', 'role', 'registered_from', 'registered_to', 'address_range', 'email_domain'] as const
export const FLAGS = ['waiting', 'suspended', 'published', 'two_factor'] as const

export type AccountChoice = Record<(typeof TEXTS)[number] | (typeof FLAGS)[number], string> & {
  sort: AccountOrder
  page: number
}

/** The page for one role. */
export type AccountArea = {
  path: string
  name: string
  role: 'moderator' | 'admin'
  actions: readonly CleanupAction[]
  /** More operations of the API whose data the page shows. */
  api?: string
  accountPath(id: string): string
  frame(
    request: OwnRequest,
    of: Pick<WorkPage, 'form' | 'notice' | 'notes' | 'status'> & { total: number; body: Part },
  ): Promise<FastifyReply> | FastifyReply
}

export type AccountsData = {
  choice: AccountChoice
  accounts: ListedAccount[]
  total: number
  cleanups: CleanupRow[]
  /** The error of a filter. */
  wrong: FormRefusal | undefined
}

export function readAccountChoice(request: PageRequest): AccountChoice {
  const typed = Object.fromEntries([...TEXTS, ...FLAGS].map((name) => [name, request.query(name).trim()]))
  const sort = ACCOUNT_ORDERS.find((order) => order === request.query('sort')) ?? 'newest'
  return { ...(typed as Omit<AccountChoice, 'sort' | 'page'>), sort, page: pageNumber(request) }
}

/** @throws ApiError `validation_error` naming the field. */
export function filterOf(choice: AccountChoice): AccountFilter {
  const texts = TEXTS.flatMap((name) => (choice[name] === '' ? [] : [[name, choice[name]] as const]))
  // Unknown values filter nothing, as in the other lists.
  const flags = FLAGS.flatMap((name) =>
    choice[name] === 'yes' || choice[name] === 'no' ? [[name, choice[name] === 'yes'] as const] : [],
  )
  return toAccountFilter(checkValues(AccountsQuery, Object.fromEntries([...texts, ...flags])))
}

/** Returns the path of the list with a choice. */
export function accountsPath(path: string, { page, sort, ...typed }: AccountChoice): string {
  return withQuery(path, {
    ...typed,
    sort: sort === 'newest' ? undefined : sort,
    page: page === 1 ? undefined : String(page),
  })
}
