// The request to clean up several accounts.
import Type, { type Static } from 'typebox'
import { OwnerProofFields } from '#features/basics/access/requests.ts'
import { Id, NamedObject } from '#lib/schema/schema-parts.ts'
import { checkText } from '#lib/text/text-rules.ts'
import { HOUR_MS } from '#lib/time.ts'
import { ACCOUNTS_MAX } from '../accounts/requests.ts'

export const CLEANUP_ACTIONS = ['spam', 'remove_content', 'suspend', 'delete'] as const
export type CleanupAction = (typeof CLEANUP_ACTIONS)[number]

/** Whether an action suspends the accounts, and whether it removes their content. */
export const suspends = (action: CleanupAction): boolean => action !== 'remove_content'
export const removesContent = (action: CleanupAction): boolean => action !== 'suspend'

/** Time for which a cleanup can be undone. */
export const CLEANUP_UNDO_MS = HOUR_MS
/** Maximum number of projects that one cleanup rejects. */
export const PROJECTS_MAX = 500

/** The text is also the reason of the suspension. */
const MESSAGE = { min: 1, max: 1_000, visible: true }

export const CleanupInput = NamedObject('AccountCleanupCreate', {
  action: Type.Enum([...CLEANUP_ACTIONS], {
    description:
      '`spam`: suspends the accounts, rejects their projects, and removes their collections and packs, the organizations of which ' +
      'they are the only member, and the text and image of their profile. `remove_content`: the same without the ' +
      'suspension. `suspend`: only the suspension. `delete`: as `spam`, and deletes the accounts after an hour',
  }),
  users: Type.Array(Id(), { minItems: 1, maxItems: ACCOUNTS_MAX, description: 'IDs of the accounts' }),
  message: Type.String({
    minLength: MESSAGE.min,
    maxLength: MESSAGE.max,
    description: 'Message to the members of the projects, and reason of the suspension',
  }),
  dry_run: Type.Optional(
    Type.Boolean({ default: false, description: 'Whether to only return what the cleanup would change' }),
  ),
  ...OwnerProofFields,
})

export type Cleanup = { action: CleanupAction; userIds: readonly string[]; message: string }

/** @throws ApiError `validation_error` naming the field. */
export function parseCleanup({ action, users, message }: Static<typeof CleanupInput>): Cleanup {
  return { action, userIds: [...new Set(users)], message: checkText(message, 'message', MESSAGE).trim() }
}
