// Records events for webhooks, in the transactions that cause them.
import { sql } from 'kysely'
import { PUBLIC_VERSION_STATUSES } from '#features/basics/access/version-status.ts'
import type { Tx } from '#platform/db/db.ts'
import { isApprovedClass, isPublicStatus, PUBLIC_STATUSES } from '#taxonomy/project-status.ts'
import type { EventKind } from './event-kinds.ts'

export type EventSubject = {
  kind: 'project' | 'organization' | 'collection' | 'user' | 'report' | 'advisory'
  id: string
}

export type NewEvent = {
  kind: EventKind
  subject: EventSubject
  /** Its owners receive the event. */
  project_id?: string | undefined
  /** Receives the event, in addition to the organization that owns the project. */
  organization_id?: string | undefined
  /** Receives the event, in addition to the owners of the project and the organization. */
  account_id?: string | undefined
  /** IDs and states, as they are sent. `version_id` names the version that the filters of webhooks apply to. */
  data: Readonly<Record<string, unknown>>
}

/** Records an event. A removal is recorded before its subject is deleted, everything else after the change. */
export async function recordEvent(tx: Tx, event: NewEvent): Promise<void> {
  await recordEvents(tx, [event])
}

/**
 * Records events in one statement, with the owners and the visibility of their subjects at this time. Without an active
 * webhook it writes nothing; the statement itself checks this, so that a new webhook misses no event.
 */
export async function recordEvents(tx: Tx, events: readonly NewEvent[]): Promise<void> {
  if (events.length === 0) return
  const rows = events.map(({ subject, ...event }) => ({ ...event, subject_kind: subject.kind, subject_id: subject.id }))
  await sql`insert into event (kind, subject_kind, subject_id, project_id, version_id, organization_ids, account_ids,
      is_public, loaders, game_versions, version_type, data)
    select new.kind, new.subject_kind, new.subject_id, new.project_id, new.data ->> 'version_id',
      array(select distinct id from unnest(array[new.organization_id, project.organization_id]) as id where id is not null),
      array(
        select new.account_id where new.account_id is not null
        union
        select member.account_id from team_member member where member.is_owner and member.accepted
          and member.team_id in (
            select project.team_id where project.id is not null
            union all
            select organization.team_id from organization
              where organization.id in (new.organization_id, project.organization_id))),
      case
        when new.subject_kind = 'collection' then
          exists (select from collection where collection.id = new.subject_id and collection.status in ('listed', 'unlisted'))
        else (project.id is null or project.status = any(${[...PUBLIC_STATUSES]}::text[]))
          and (version.id is null or version.status = any(${[...PUBLIC_VERSION_STATUSES]}::text[]))
      end,
      coalesce(version.loaders, '{}'),
      case when jsonb_typeof(version.fields -> 'game_versions') = 'array'
        then array(select jsonb_array_elements_text(version.fields -> 'game_versions')) else '{}' end,
      version.version_type, new.data
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as new (kind text, subject_kind text, subject_id text,
      project_id text, organization_id text, account_id text, data jsonb)
    left join project on project.id = new.project_id
    left join version on version.id = new.data ->> 'version_id'
    where exists (select from webhook where webhook.active)`.execute(tx)
}

/** Records an event about a project. */
export async function recordProjectEvent(
  tx: Tx,
  kind: EventKind & `project.${string}`,
  projectId: string,
  data: NewEvent['data'] = {},
): Promise<void> {
  await recordEvents(tx, [projectEvent(kind, projectId, data)])
}

/** Returns an event about a project, for `recordEvents`. */
export function projectEvent(kind: EventKind, projectId: string, data: NewEvent['data'] = {}): NewEvent {
  const subject = { kind: 'project', id: projectId } as const
  return { kind, subject, project_id: projectId, data: { project_id: projectId, ...data } }
}

/** Records an event about a version. */
export async function recordVersionEvent(
  tx: Tx,
  kind: EventKind & ('scan.quarantined' | `version.${string}`),
  { projectId, versionId }: { projectId: string; versionId: string },
  data: NewEvent['data'] = {},
): Promise<void> {
  await recordEvents(tx, [projectEvent(kind, projectId, { version_id: versionId, ...data })])
}

type StatusChange = { id: string; from: string; to: string }

/**
 * Records the changed status of a project, and its creation if it becomes public for the first time. The thread of a project
 * keeps its earlier statuses; a decision that was undone is not in it, so recorded events are considered too.
 */
export async function recordStatusEvents(tx: Tx, { id, from, to }: StatusChange): Promise<void> {
  if (isPublicStatus(to) && isApprovedClass(to) && !isPublicStatus(from) && !(await wasPublic(tx, id)))
    await recordProjectEvent(tx, 'project.created', id, { status: to })
  await recordProjectEvent(tx, 'project.status_changed', id, { from, to })
}

async function wasPublic(tx: Tx, projectId: string): Promise<boolean> {
  const { rows } = await sql<{ known: boolean }>`select
    exists (select from event where project_id = ${projectId} and kind = 'project.created')
    or exists (select from thread join thread_message on thread_message.thread_id = thread.id
      where thread.project_id = ${projectId} and thread_message.body ->> 'type' = 'status_change'
        and thread_message.body ->> 'old_status' = any(${[...PUBLIC_STATUSES]}::text[])) as known`.execute(tx)
  return rows[0]?.known ?? false
}
