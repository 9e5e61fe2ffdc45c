-- Events of the catalogue and the webhooks that receive them. An event is written in the transaction that causes it, and
-- numbered after the commit: the process that assigns the number also creates a delivery for each webhook that wants it.

create table event (
  id bigint generated always as identity primary key,
  -- Public ID. Identifiers of messages are derived from it, so they stay unique after a restore.
  key text collate "C" not null default random_base62(16),
  -- Assigned after the commit; null until then.
  number bigint,
  kind text not null,
  subject_kind text not null,
  subject_id text collate "C" not null,
  -- What the event concerned when it happened. No foreign keys: events outlive their subjects.
  project_id text collate "C",
  version_id text collate "C",
  organization_ids text[] not null default '{}',
  account_ids text[] not null default '{}',
  -- Whether readers without an account could see the subject.
  is_public boolean not null,
  -- Of the version, for the filters of webhooks.
  loaders text[] not null default '{}',
  game_versions text[] not null default '{}',
  version_type text,
  at timestamptz not null default now(),
  data jsonb not null default '{}',
  constraint event_number_key unique (number),
  constraint event_subject_kind_check check (subject_kind in
    ('project', 'organization', 'collection', 'user', 'report', 'advisory', 'webhook')),
  constraint event_kind_check check (kind in (
    'project.created', 'project.updated', 'project.status_changed', 'project.removed', 'project.transferred',
    'version.published', 'version.updated', 'version.withdrawn', 'version.removed',
    'member.invited', 'member.joined', 'member.left', 'report.created', 'report.closed', 'scan.quarantined',
    'advisory.published', 'organization.project_added', 'organization.project_removed', 'collection.updated',
    'account.created', 'dependency.broken', 'webhook.ping'))
);
create index event_unnumbered_idx on event (id) where number is null;
create index event_at_idx on event (at);
create index event_created_idx on event (project_id) where kind = 'project.created';

-- One row, which the process that assigns numbers locks.
create table event_head (
  only_row boolean primary key default true,
  last bigint not null default 0,
  constraint event_head_only_row_check check (only_row)
);
insert into event_head default values;

create table webhook (
  id text collate "C" primary key,
  -- The owner: one of the three IDs; none for the instance. A project has no foreign key, so that its webhooks can still
  -- receive that the project was removed; a job deletes them afterwards.
  owner_kind text not null,
  project_id text collate "C",
  organization_id text collate "C" references organization (id) on delete cascade,
  account_id text collate "C" references account (id) on delete cascade,
  created_by text collate "C" references account (id) on delete set null,
  url text not null,
  -- Of the URL, for the limits per host.
  host text not null,
  format text not null,
  -- '*': all events.
  events text[] not null,
  loaders text[] not null default '{}',
  game_versions text[] not null default '{}',
  version_types text[] not null default '{}',
  -- Encrypted. After a rotation, the previous secret also signs until the overlap ends.
  secret bytea not null,
  previous_secret bytea,
  previous_until timestamptz,
  active boolean not null default true,
  disabled_reason text,
  created timestamptz not null default now(),
  last_success timestamptz,
  last_failure timestamptz,
  -- The first failure since the last success, and how many there were.
  failing_since timestamptz,
  failures integer not null default 0,
  constraint webhook_owner_kind_check check (owner_kind in ('project', 'organization', 'user', 'instance')),
  constraint webhook_owner_check check (
    (project_id is not null) = (owner_kind = 'project') and (organization_id is not null) = (owner_kind = 'organization')
    and (account_id is not null) = (owner_kind = 'user')),
  constraint webhook_format_check check (format in ('standard', 'discord', 'github')),
  constraint webhook_url_check check (char_length(url) <= 2048),
  constraint webhook_events_check check (cardinality(events) > 0),
  constraint webhook_disabled_reason_check check (disabled_reason in ('failing', 'gone', 'owner', 'secret_lost')),
  constraint webhook_active_check check (active = (disabled_reason is null))
);
create index webhook_project_id_idx on webhook (project_id) where project_id is not null;
create index webhook_organization_id_idx on webhook (organization_id) where organization_id is not null;
create index webhook_account_id_idx on webhook (account_id) where account_id is not null;
create index webhook_created_by_idx on webhook (created_by) where created_by is not null;
create index webhook_instance_idx on webhook (id) where owner_kind = 'instance';
create index webhook_active_idx on webhook (id) where active;

create table webhook_delivery (
  id text collate "C" primary key default random_base62(11),
  -- Order of the deliveries of a webhook.
  sequence bigint not null generated always as identity,
  webhook_id text collate "C" not null references webhook (id) on delete cascade,
  event_id bigint not null references event (id) on delete cascade,
  -- Deliveries about the same subject are sent in their order.
  subject text collate "C" not null,
  state text not null default 'pending',
  -- Attempts so far.
  attempt integer not null default 0,
  -- Null unless pending.
  next_attempt timestamptz,
  -- Set while a process sends it.
  leased_until timestamptz,
  created timestamptz not null,
  constraint webhook_delivery_sequence_key unique (sequence),
  constraint webhook_delivery_state_check check (state in ('pending', 'delivered', 'failed', 'discarded')),
  constraint webhook_delivery_next_attempt_check check ((next_attempt is not null) = (state = 'pending'))
);
create index webhook_delivery_webhook_id_idx on webhook_delivery (webhook_id, sequence desc);
create index webhook_delivery_event_id_idx on webhook_delivery (event_id);
create index webhook_delivery_due_idx on webhook_delivery (webhook_id, next_attempt) where state = 'pending';
create index webhook_delivery_subject_idx on webhook_delivery (webhook_id, subject, sequence) where state = 'pending';

create table webhook_attempt (
  delivery_id text collate "C" not null references webhook_delivery (id) on delete cascade,
  attempt integer not null,
  at timestamptz not null,
  ms integer not null,
  -- Why the attempt failed; null if it succeeded.
  error text,
  request_headers jsonb not null,
  request_body text not null,
  -- Null without an answer.
  response_status integer,
  response_headers jsonb not null default '{}',
  response_body text,
  primary key (delivery_id, attempt)
);
