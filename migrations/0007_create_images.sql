-- Pictures inside texts (descriptions, changelogs, reports, messages), what bounds a thread, and the order of the
-- moderation queue.

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

-- About how many bytes the thread's messages take in an answer; bounds what can be written into it.
alter table thread add column size_bytes bigint not null default 0;

-- Reports by their age, for one reporter and for moderators, the closed ones left out.
create index report_reporter_open_idx on report (reporter_id, created, id) where not closed;
