// Response schemas of the audit log.
import Type, { type Static } from 'typebox'
import { NamedObject, Nullable, Timestamp } from '#lib/schema/schema-parts.ts'
import { AUDIT_ACTIONS, type AuditAction, SUBJECT_KINDS, type SubjectKind } from './actions.ts'
import { ACTOR_KINDS } from './actor.ts'
import type { AuditRow } from './queries.ts'

const Details = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  additionalProperties: true,
  description: 'Details of the action, such as statuses, fields and amounts',
})

const Subject = Nullable(
  Type.Object({
    kind: Type.Enum([...SUBJECT_KINDS]),
    id: Type.String(),
    name: Nullable(Type.String({ description: 'Current username if the resource is an account, otherwise null' })),
  }),
)

/** Fields of both views of an entry. */
const entryFields = {
  id: Type.Integer(),
  at: Timestamp,
  action: Type.Enum([...AUDIT_ACTIONS]),
  subject: Subject,
  details: Details,
}

export const AuditEntryView = NamedObject('AuditEntry', {
  ...entryFields,
  actor: Type.Object({
    kind: Type.Enum([...ACTOR_KINDS], {
      description:
        '`account`: a user. `operator`: the holder of the admin key. `command`: the command line. `system`: Depot ' +
        'itself. `anonymous`: a client without credentials',
    }),
    id: Nullable(Type.String({ description: 'ID of the account that acted; `deleted0` for deleted accounts' })),
    name: Nullable(Type.String({ description: 'Current username of the account' })),
    token: Nullable(Type.Object({ kind: Type.String(), id: Type.String() })),
  }),
  address: Nullable(Type.String({ description: 'IP address of the client; deleted earlier than the entry' })),
})
export type AuditEntryView = Static<typeof AuditEntryView>

const next = Nullable(Type.Integer({ description: '`before` of the next page; null on the last page' }))

export const AuditPage = NamedObject('AuditPage', { entries: Type.Array(AuditEntryView), next })

/** An entry in the log of moderators, without the IP address and token of the actor. */
export const ModerationEntryView = NamedObject('ModerationEntry', {
  ...entryFields,
  actor: Type.Object({
    kind: Type.Enum([...ACTOR_KINDS]),
    id: Nullable(Type.String()),
    name: Nullable(Type.String({ description: 'Current username of the account' })),
  }),
})

export const ModerationLog = NamedObject('ModerationLog', { entries: Type.Array(ModerationEntryView), next })

export const OwnAuditEntryView = NamedObject('OwnAuditEntry', {
  ...entryFields,
  by: Type.Enum(['you', 'others'], { description: '`you`: the caller. `others`: anyone else, without their name' }),
  address: Nullable(Type.String({ description: 'Your IP address; null for the actions of others' })),
})

export const OwnAuditPage = NamedObject('OwnAuditPage', { entries: Type.Array(OwnAuditEntryView), next })

export function toAuditEntryView(row: AuditRow): AuditEntryView {
  const { token_kind, token_id } = row
  return {
    ...toEntryFields(row),
    actor: {
      kind: row.actor_kind as AuditEntryView['actor']['kind'],
      id: row.actor_id,
      name: row.actor_name,
      token: token_kind === null || token_id === null ? null : { kind: token_kind, id: token_id },
    },
    address: row.address,
  }
}

export function toModerationEntryView(row: AuditRow): Static<typeof ModerationEntryView> {
  const { kind, id, name } = toAuditEntryView(row).actor
  return { ...toEntryFields(row), actor: { kind, id, name } }
}

/** Maps an entry for the user it is about, without the names and IP addresses of others. */
export function toOwnAuditEntryView(row: AuditRow, accountId: string): Static<typeof OwnAuditEntryView> {
  const isOwn = row.actor_id === accountId
  return { ...toEntryFields(row), by: isOwn ? 'you' : 'others', address: isOwn ? row.address : null }
}

function toEntryFields({ id, at, action, subject_kind, subject_id, subject_name, details }: AuditRow) {
  const isAbout = subject_kind !== null && subject_id !== null
  return {
    id,
    at: at.toISOString(),
    action: action as AuditAction,
    subject: isAbout ? { kind: subject_kind as SubjectKind, id: subject_id, name: subject_name } : null,
    details: details as Record<string, unknown>,
  }
}

/** Columns of the CSV export. */
export const CSV_COLUMNS = [
  'id',
  'at',
  'action',
  'actor_kind',
  'actor_id',
  'actor_name',
  'token_kind',
  'token_id',
  'address',
  'subject_kind',
  'subject_id',
  'subject_name',
  'details',
] as const

export function toCsvValues(row: AuditRow): (string | number | undefined)[] {
  return CSV_COLUMNS.map((column) => {
    const value = row[column]
    if (value === null) return undefined
    if (column === 'details') return JSON.stringify(value)
    return value instanceof Date ? value.toISOString() : (value as string | number)
  })
}
