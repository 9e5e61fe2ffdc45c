// Response schemas of cleanups.
import Type, { type Static } from 'typebox'
import { NamedObject, Nullable, Timestamp } from '#lib/schema/schema-parts.ts'
import type { CleanupPlan } from './clean-up.ts'
import { SKIP_REASONS } from './policy.ts'
import type { CleanupRow } from './queries.ts'
import { CLEANUP_ACTIONS, type CleanupAction } from './requests.ts'

const named = { id: Type.String(), name: Type.String() }

export const CleanupView = NamedObject('AccountCleanup', {
  id: Nullable(Type.String({ description: 'ID of the cleanup, with which it can be undone; null for a dry run' })),
  users: Type.Array(
    Type.Object({
      id: Type.String(),
      username: Type.String(),
      projects: Type.Array(Type.Object({ ...named, slug: Type.String(), status: Type.String() }), {
        description: 'Projects that are rejected, with their status before the cleanup',
      }),
      collections: Type.Array(Type.Object({ ...named, status: Type.String() })),
      organizations: Type.Array(Type.Object(named)),
      reports: Type.Array(Type.Object({ id: Type.String(), report_type: Type.String(), item_type: Type.String() }), {
        description: 'Open reports about the account and its projects, which the cleanup closes as led to action',
      }),
    }),
  ),
  skipped: Type.Array(
    Type.Object({
      id: Type.String(),
      username: Nullable(Type.String()),
      reason: Type.Enum([...SKIP_REASONS], {
        description:
          '`missing`: does not exist or is about to be deleted. `own`: is the caller. `service`: is a service account. ' +
          '`admin`: has the role admin. `operator`: only operators can decide, because the account has another role than ' +
          'developer or had an approved project. `cleaned`: is part of another cleanup',
      }),
    }),
    { description: 'Accounts that the cleanup leaves out' },
  ),
})

export const CleanupListView = NamedObject('AccountCleanupList', {
  cleanups: Type.Array(
    Type.Object({
      id: Type.String(),
      action: Type.Enum([...CLEANUP_ACTIONS]),
      created: Timestamp,
      moderator: Nullable(Type.String({ description: 'Username' })),
      accounts: Type.Integer({ description: 'Number of accounts' }),
    }),
  ),
})

export const toCleanupListView = (rows: readonly CleanupRow[]): Static<typeof CleanupListView> => ({
  cleanups: rows.map((row) => ({ ...row, action: row.action as CleanupAction, created: row.created.toISOString() })),
})

export const UndoneCleanupView = NamedObject('UndoneCleanup', {
  users: Type.Array(Type.Object({ id: Type.String(), username: Type.String() })),
  kept: Type.Array(
    Type.Object({ ...named, reason: Type.String({ description: 'Why the project could not be restored' }) }),
    { description: 'Projects that stay rejected' },
  ),
})

export const toCleanupView = ({ targets, skipped }: CleanupPlan, id: string | null): Static<typeof CleanupView> => ({
  id,
  users: targets.map(({ id: userId, username, content }) => ({ id: userId, username, reports: [], ...content })),
  skipped,
})
