// Requests of the audit log.
import Type, { type Static } from 'typebox'
import { invalidInput } from '#lib/errors.ts'
import { parseId } from '#lib/ids.ts'
import { Id } from '#lib/schema/schema-parts.ts'
import {
  AUDIT_ACTIONS,
  type AuditAction,
  MODERATOR_ACTIONS,
  SHARED_ACTIONS,
  SUBJECT_KINDS,
  type SubjectKind,
} from './actions.ts'

export const AUDIT_PAGE_MAX = 500

const filterFields = {
  action: Type.Optional(Type.Enum([...AUDIT_ACTIONS], { description: 'Action of the entries' })),
  actor: Type.Optional(Id('ID of the account that acted')),
  user: Type.Optional(Id('ID of an account that acted or that the entry is about')),
  subject_kind: Type.Optional(
    Type.Enum([...SUBJECT_KINDS], { description: 'Kind of the resource that the action changed' }),
  ),
  subject_id: Type.Optional(Type.String({ maxLength: 256, description: 'ID of the resource that the action changed' })),
  since: Type.Optional(
    Type.String({ maxLength: 64, format: 'date-time', description: 'Entries at or after this time' }),
  ),
  until: Type.Optional(Type.String({ maxLength: 64, format: 'date-time', description: 'Entries before this time' })),
}

const pageFields = {
  before: Type.Optional(
    Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: '`next` of the previous page' }),
  ),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: AUDIT_PAGE_MAX, default: 100, description: 'Maximum number of entries' }),
  ),
}

/** Filters of operators, which read entries one after the other. */
const searchFields = {
  query: Type.Optional(
    Type.String({
      maxLength: 128,
      description: 'Part of the action, details, ID, IP address or of a current username, in any case',
    }),
  ),
  staff: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'Whether to return only actions of moderators, operators and commands',
    }),
  ),
}

/** Filter and pagination of the audit log. */
export const AuditQuery = Type.Object({ ...filterFields, ...searchFields, ...pageFields })

const LOGGED_ACTIONS = [...MODERATOR_ACTIONS, ...SHARED_ACTIONS] as const

/** Filter and pagination of the log of moderators. */
export const ModerationLogQuery = Type.Object({
  ...filterFields,
  action: Type.Optional(Type.Enum([...LOGGED_ACTIONS], { description: 'Action of the entries' })),
  ...pageFields,
})

/** Pagination of the caller's own audit entries. */
export const OwnAuditQuery = Type.Object(pageFields)

export const AuditExportQuery = Type.Object({
  ...filterFields,
  ...searchFields,
  format: Type.Optional(
    Type.Enum(['jsonl', 'csv'], {
      default: 'jsonl',
      description: '`jsonl`: one JSON object per line. `csv`: CSV (RFC 4180)',
    }),
  ),
})

export type AuditFilter = {
  /** Whether to return only what the log of moderators shows. */
  ofModeration?: boolean
  action?: AuditAction | undefined
  actorId?: string | undefined
  accountId?: string | undefined
  subject?: { kind?: SubjectKind | undefined; id?: string | undefined } | undefined
  since?: Date | undefined
  until?: Date | undefined
  /** Part of the entry or of a username; absent to match all. */
  text?: string | undefined
  /** Whether to return only what moderators, operators and commands did. */
  isStaff?: boolean
}

/** `query` and `staff` are absent in the log of moderators. @throws ApiError `invalid_input` if `until` is not after `since`, `decoding_error` if an ID is invalid. */
export function toAuditFilter(query: Omit<Static<typeof AuditQuery>, 'before' | 'limit'>): AuditFilter {
  const since = query.since === undefined ? undefined : new Date(query.since)
  const until = query.until === undefined ? undefined : new Date(query.until)
  if (since !== undefined && until !== undefined && until <= since)
    throw invalidInput('until must be after since', 'until')
  const idOf = (field: 'actor' | 'user') => (query[field] === undefined ? undefined : parseId(query[field], field))
  const subject = { kind: query.subject_kind, id: query.subject_id }
  const text = query.query?.trim() ?? ''
  const search = { text: text === '' ? undefined : text, isStaff: query.staff === true }
  return { action: query.action, actorId: idOf('actor'), accountId: idOf('user'), subject, since, until, ...search }
}
