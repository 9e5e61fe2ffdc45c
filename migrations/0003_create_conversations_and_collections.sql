-- What people say and keep: reports, moderation threads, notifications, collections, and pictures inside texts.

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
-- Reports by their age, for moderators and for one reporter, the closed ones left out.
create index report_open_idx on report (created, id) where not closed;
create index report_reporter_open_idx on report (reporter_id, created, id) where not closed;

create table thread (
  id text collate "C" primary key,
  type text not null,
  project_id text collate "C" references project (id) on delete set null,
  report_id text collate "C" references report (id) on delete cascade,
  -- About how many bytes its messages take in an answer; bounds what can be written into it.
  size_bytes bigint not null default 0,
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
  -- Set where a job makes notifications for many accounts: a job that runs twice makes one for each cause and account.
  cause text collate "C",
  read boolean not null default false,
  created timestamptz not null default now()
);
create index notification_account_id_idx on notification (account_id, created desc, id);
create unique index notification_cause_key on notification (account_id, cause) where cause is not null;
-- An invitation names the account that sent it; when that account is deleted, it is taken out of them.
create index notification_invited_by_idx on notification ((body ->> 'invited_by'))
  where (body ->> 'invited_by') is not null;

-- Which notifications a person receives by email, where it differs from the default.
create table email_setting (
  account_id text collate "C" not null references account (id) on delete cascade,
  kind text collate "C" not null,
  is_emailed boolean not null,
  primary key (account_id, kind)
);

-- Lists of projects that people keep.
create table collection (
  id text collate "C" primary key,
  account_id text collate "C" not null references account (id) on delete cascade,
  name text not null,
  description text,
  status text not null default 'listed',
  icon_url text,
  raw_icon_url text,
  color integer,
  created timestamptz not null default now(),
  updated timestamptz not null default now(),
  constraint collection_name_check check (char_length(name) between 3 and 64),
  constraint collection_description_check check (char_length(description) between 3 and 256),
  constraint collection_status_check check (status in ('listed', 'unlisted', 'private', 'rejected'))
);
create index collection_account_id_idx on collection (account_id, created desc, id);
create index collection_listed_idx on collection (created desc, id) where status = 'listed';

create table collection_project (
  collection_id text collate "C" not null references collection (id) on delete cascade,
  project_id text collate "C" not null references project (id) on delete cascade,
  -- The creator's order; gaps are left by deleted projects.
  position integer not null,
  primary key (collection_id, project_id),
  constraint collection_project_position_check check (position between 0 and 1023)
);
create index collection_project_project_id_idx on collection_project (project_id);

-- Pictures inside descriptions, changelogs, reports and messages.
create table image (
  id text collate "C" primary key,
  -- A picture outlives its account where it stands in a project's text.
  owner_id text collate "C" references account (id) on delete set null,
  context text not null,
  url text not null,
  -- The key under which the files port holds the bytes.
  storage_key text collate "C" not null,
  size_bytes integer not null,
  created timestamptz not null default now(),
  -- What it belongs to; null in all four while it waits to be used, and again once that thing is gone.
  project_id text collate "C" references project (id) on delete set null,
  version_id text collate "C" references version (id) on delete set null,
  report_id text collate "C" references report (id) on delete set null,
  thread_message_id text collate "C" references thread_message (id) on delete set null,
  constraint image_context_check check (context in ('project', 'version', 'report', 'thread_message')),
  constraint image_place_check check (
    (project_id is null or context = 'project') and (version_id is null or context = 'version')
    and (report_id is null or context = 'report') and (thread_message_id is null or context = 'thread_message')),
  constraint image_size_check check (size_bytes between 1 and 1048576)
);
create index image_project_id_idx on image (project_id) where project_id is not null;
create index image_version_id_idx on image (version_id) where version_id is not null;
create index image_report_id_idx on image (report_id) where report_id is not null;
create index image_thread_message_id_idx on image (thread_message_id) where thread_message_id is not null;
create index image_owner_id_idx on image (owner_id);
-- What waits to be used: counted for each account, and removed when it has waited too long.
create index image_waiting_idx on image (created)
  where project_id is null and version_id is null and report_id is null and thread_message_id is null;
