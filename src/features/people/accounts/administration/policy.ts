// Which accounts operators may act on.

import { isPlaceholder } from '#features/basics/access/placeholder.ts'
import type { Actor } from '#features/basics/audit/actor.ts'
import { forbidden, invalidInput } from '#lib/errors.ts'

/** @throws ApiError 403 for the account that stands for deleted ones. */
export function requireAdministrable<Account extends { id: string }>(account: Account): Account {
  if (isPlaceholder(account)) throw forbidden('This account stands for deleted ones and cannot be changed')
  return account
}

/** @throws ApiError `invalid_input` for an admin's own account. */
export function requireSuspendable<Account extends { id: string }>(actor: Actor, account: Account): Account {
  if (actor.kind === 'account' && actor.id === account.id) throw invalidInput('You cannot suspend your own account')
  return requireAdministrable(account)
}
