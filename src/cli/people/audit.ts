// `depot audit list`.

import { readArguments, UsageError, wholeNumber } from '#cli/kit/arguments.ts'
import { table } from '#cli/kit/table.ts'
import { type Env, print, withDeps } from '#cli/kit/with-deps.ts'
import { AUDIT_ACTIONS, type AuditAction } from '#features/basics/audit/actions.ts'
import { listEntries } from '#features/basics/audit/queries.ts'
import { toAuditEntryView } from '#features/basics/audit/views.ts'
import { getAccountByName } from '#features/people/users/queries.ts'

const LIST_DEFAULT = '100'
const LIST_MAX = 10_000

export async function auditList(args: readonly string[], env: Env): Promise<void> {
  const { values } = readArguments(args, {
    find: 'string',
    action: 'string',
    actor: 'string',
    user: 'string',
    since: 'string',
    until: 'string',
    limit: 'string',
    json: 'boolean',
  })
  const limit = wholeNumber(values.limit ?? LIST_DEFAULT, 'limit', 1, LIST_MAX)
  const action = values.action === undefined ? undefined : readAction(values.action)
  const [since, until] = [readTime(values.since, 'since'), readTime(values.until, 'until')]
  await withDeps(env, async ({ db }) => {
    const idOf = async (name: string | undefined) =>
      name === undefined ? undefined : (await getAccountByName(db, name, { withLeaving: true })).id
    const [actorId, accountId] = [await idOf(values.actor), await idOf(values.user)]
    const text = values.find === undefined || values.find.trim() === '' ? undefined : values.find.trim()
    const rows = await listEntries(db, { action, actorId, accountId, since, until, text }, { limit })
    const entries = rows.map(toAuditEntryView)
    const lines = entries.map(({ at, action, actor, subject, address, details }) => {
      const about = subject === null ? '' : `${subject.kind} ${subject.name ?? subject.id}`
      return [at, action, actor.name ?? actor.id ?? actor.kind, about, address ?? '', JSON.stringify(details)]
    })
    const head = ['TIME', 'ACTION', 'BY', 'SUBJECT', 'ADDRESS', 'DETAILS']
    print({ json: { entries }, text: lines.length === 0 ? 'No entries found' : table(head, lines) }, values.json)
  })
}

function readAction(text: string): AuditAction {
  const action = AUDIT_ACTIONS.find((known) => known === text)
  if (action === undefined) throw new UsageError(`--action must be one of ${AUDIT_ACTIONS.join(', ')}`)
  return action
}

function readTime(text: string | undefined, name: string): Date | undefined {
  if (text === undefined) return undefined
  const time = new Date(text)
  if (Number.isNaN(time.getTime()))
    throw new UsageError(`--${name} must be a date or a time such as 2026-11-01 or 2026-11-01T12:00:00Z`)
  return time
}
