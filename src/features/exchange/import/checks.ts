// Checks of every import, before it writes.
import { OperatorError } from '#lib/operator-error.ts'
import type { Deps } from '#ports/deps.ts'

/** Characters that PostgreSQL cannot store: NUL, and halves of a pair. */
const UNSTORABLE = /\\u(0000|d[89a-f])/i

export const isStorable = (value: unknown): boolean => !UNSTORABLE.test(JSON.stringify(value))

/** Returns the time, or undefined for one that does not exist. */
export function possibleDate(text: string): Date | undefined {
  const date = new Date(text)
  const year = date.getUTCFullYear()
  return year >= 1970 && year < 3000 ? date : undefined
}

/** `accountId`: the owner of the organization. */
export type ImportOwner = { organizationId: string; accountId: string }

/** @throws OperatorError unless the organization exists and has an owner. */
export async function findOwner({ db }: Pick<Deps, 'db'>, name: string): Promise<ImportOwner> {
  const row = await db
    .selectFrom('organization')
    .innerJoin('team_member', 'team_member.team_id', 'organization.team_id')
    .select(['organization.id', 'team_member.account_id'])
    .where((eb) => eb.or([eb('organization.id', '=', name), eb('organization.slug', '=', name.toLowerCase())]))
    .where('team_member.is_owner', '=', true)
    .executeTakeFirst()
  if (row === undefined)
    throw new OperatorError(
      `There is no organization ${name}. Check --owner, or create it on the page of your organizations.`,
    )
  return { organizationId: row.id, accountId: row.account_id }
}
