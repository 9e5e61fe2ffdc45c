import type { Actor } from '#features/basics/audit/actor.ts'
import { getAccountByName } from '#features/people/users/queries.ts'
import { notFound } from '#lib/errors.ts'
import type { Deps } from '#ports/deps.ts'
import { requireAdministrable } from '../policy.ts'
import { endSession } from '../sessions/delete-session.ts'

/** Ends a session of another account on behalf of an operator. @throws ApiError 404, 403 for the placeholder account. */
export async function endUserSession(
  deps: Pick<Deps, 'db' | 'cache'>,
  actor: Actor,
  { name, sessionId }: { name: string; sessionId: string },
): Promise<void> {
  const { id: accountId } = requireAdministrable(await getAccountByName(deps.db, name))
  if (!(await endSession(deps, actor, { accountId, session: { id: sessionId } }))) throw notFound('session')
}
