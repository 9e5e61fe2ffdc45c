-- What moderators last saw of a project, so that a review shows what has changed since. A project has at most 2 rows: the
-- newest is compared with the current state, and the one before replaces it if the decision is undone.
create table project_snapshot (
  id bigint generated always as identity primary key,
  project_id text collate "C" not null references project (id) on delete cascade,
  reason text not null,
  created timestamptz not null,
  state jsonb not null,
  constraint project_snapshot_reason_check check (reason in ('approval', 'message', 'submission'))
);
create index project_snapshot_project_id_idx on project_snapshot (project_id, id);

-- The reported item at the time of the report.
create table report_snapshot (
  report_id text collate "C" primary key references report (id) on delete cascade,
  state jsonb not null
);

-- The last decision of a moderator on a project, until `final_at`. Until then the members are not notified, and a moderator
-- can undo it. `previous` has the columns of the project that the decision replaced.
create table project_decision (
  project_id text collate "C" primary key references project (id) on delete cascade,
  account_id text collate "C" references account (id) on delete set null,
  decided timestamptz not null,
  final_at timestamptz not null,
  from_status text not null,
  to_status text not null,
  message text,
  previous jsonb not null,
  thread_message_id text collate "C" references thread_message (id) on delete set null,
  snapshot_id bigint references project_snapshot (id) on delete set null
);
create index project_decision_account_id_idx on project_decision (account_id);
create index project_decision_final_at_idx on project_decision (final_at);
create index project_decision_thread_message_id_idx on project_decision (thread_message_id);
create index project_decision_snapshot_id_idx on project_decision (snapshot_id);

-- The hosts of the links of a project. A review shows how many other projects use the same host.
create function link_hosts(urls jsonb) returns text[] language sql immutable parallel safe as $$
  select coalesce(array_agg(distinct lower(substring(value from '^https?://([^/:?#]+)'))), '{}') from jsonb_each_text(urls)
$$;
create index project_link_hosts_idx on project using gin (link_hosts(link_urls));
