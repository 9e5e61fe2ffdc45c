-- Answers of the resolver and lists of versions, from which packs are made. The ID is derived from the content. A job
-- deletes what nobody has read for 90 days.
create table version_lock (
  id text collate "C" primary key,
  -- Name, version, loaders, game versions and loader version of the pack.
  target jsonb not null,
  -- The chosen files: the version and the SHA-1 hash at the same position.
  version_ids text[] collate "C" not null,
  sha1s text[] collate "C" not null,
  -- The answer as JSON, with relative addresses of files.
  content text not null,
  created timestamptz not null default now(),
  last_read timestamptz not null default now(),
  constraint version_lock_id_check check (id ~ '^[0-9A-Za-z]{22}$'),
  constraint version_lock_files_check check (cardinality(version_ids) = cardinality(sha1s))
);
create index version_lock_last_read_idx on version_lock (last_read);
