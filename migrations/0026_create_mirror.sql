-- Copies of another instance's projects: which source a mirror reads, how far it has read, and which rows here are copies of
-- which objects there.

-- Where a copy comes from, as the API shows it, and the status that the mirror set last, which the owner can change. Null
-- for everything that was published here.
alter table project add column origin jsonb;
alter table version add column origin jsonb;

create table mirror (
  id text collate "C" primary key,
  -- The base URL of the source, without a slash at the end.
  address text not null,
  -- What the last run was asked to copy. Another selection starts again from the beginning.
  selection jsonb not null,
  -- Owns new copies.
  organization_id text collate "C" references organization (id) on delete set null,
  -- The public keys of the source at the last run; empty for a source without keys.
  instance_keys text[] not null default '{}',
  -- Continues after the last change that was copied; null before the first run and while a run compares everything.
  cursor text,
  -- A number for each comparison with the whole source, and whether it has not ended yet.
  pass integer not null default 0,
  is_comparing boolean not null default false,
  runs integer not null default 0,
  created timestamptz not null default now(),
  last_run timestamptz,
  constraint mirror_address_key unique (address)
);
create index mirror_organization_id_idx on mirror (organization_id);

-- The copy of one object of the source: of a project or of a version. The ID here can differ from the ID there.
create table origin (
  mirror_id text collate "C" not null references mirror (id) on delete cascade,
  kind text not null,
  remote_id text collate "C" not null,
  project_id text collate "C" references project (id) on delete cascade,
  version_id text collate "C" references version (id) on delete cascade,
  -- Identifies the state of the object that was copied: its revision, or its date in a source without revisions.
  remote_revision text,
  -- The last comparison in which the source had the object.
  pass integer not null default 0,
  -- Whether files were left out.
  lacks_files boolean not null default false,
  -- URLs of the icon and the gallery of the source, with the images here.
  images jsonb not null default '{}',
  -- The dependencies of the source if some could not be resolved yet.
  unresolved jsonb,
  primary key (mirror_id, kind, remote_id),
  constraint origin_project_key unique (project_id),
  constraint origin_version_key unique (version_id),
  constraint origin_kind_check check (kind = case
    when num_nonnulls(project_id, version_id) <> 1 then ''
    when project_id is not null then 'project'
    else 'version' end)
);

-- Versions and projects that could not be copied. Every run tries them again.
create table mirror_failure (
  mirror_id text collate "C" not null references mirror (id) on delete cascade,
  remote_project_id text collate "C" not null,
  -- Empty for the project itself.
  remote_version_id text collate "C" not null default '',
  code text not null,
  message text not null,
  attempts integer not null default 1,
  last_attempt timestamptz not null default now(),
  primary key (mirror_id, remote_project_id, remote_version_id),
  constraint mirror_failure_message_check check (length(message) <= 1000)
);
