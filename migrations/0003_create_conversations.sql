-- Moderation threads, reports and notifications.

create table report (
  id text collate "C" primary key,
  report_type text not null,
  item_type text not null,
  -- What is reported may be deleted while the report stays.
  project_id text collate "C" references project (id) on delete set null,
  version_id text collate "C" references version (id) on delete set null,
  account_id text collate "C" references account (id) on delete set null,
  item_id text not null,
  reporter_id text collate "C" not null references account (id),
  body text not null,
  closed boolean not null default false,
  created timestamptz not null default now(),
  constraint report_item_type_check check (item_type in ('project', 'version', 'user'))
);
create index report_reporter_id_idx on report (reporter_id);
create index report_project_id_idx on report (project_id);
create index report_version_id_idx on report (version_id);
create index report_account_id_idx on report (account_id);
create index report_open_idx on report (created, id) where not closed;

create table thread (
  id text collate "C" primary key,
  type text not null,
  project_id text collate "C" references project (id) on delete set null,
  report_id text collate "C" references report (id) on delete cascade,
  constraint thread_type_check check (type in ('project', 'report', 'direct_message')),
  constraint thread_project_key unique (project_id),
  constraint thread_report_key unique (report_id)
);

create table thread_message (
  id text collate "C" primary key,
  thread_id text collate "C" not null references thread (id) on delete cascade,
  author_id text collate "C" references account (id),
  -- {type: text | status_change | thread_closure | thread_reopen | deleted, …}
  body jsonb not null,
  hide_identity boolean not null default false,
  created timestamptz not null default now()
);
create index thread_message_thread_id_idx on thread_message (thread_id, created);
create index thread_message_author_id_idx on thread_message (author_id);

create table notification (
  id text collate "C" primary key,
  account_id text collate "C" not null references account (id) on delete cascade,
  -- {type, …}; never a secret.
  body jsonb not null,
  read boolean not null default false,
  created timestamptz not null default now()
);
create index notification_account_id_idx on notification (account_id, created desc, id);
