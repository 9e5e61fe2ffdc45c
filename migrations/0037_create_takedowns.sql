-- What a takedown changed, so that it can be undone. `before` has the parts of the content with their earlier values.
create table takedown (
  id text collate "C" primary key check (id ~ '^[0-9A-Za-z]{8}$'),
  created timestamptz not null,
  actor_id text collate "C" references account (id) on delete set null,
  kind text not null,
  target text not null,
  reason text not null,
  reference text not null,
  visibility text not null,
  before jsonb not null,
  undone timestamptz,
  undone_by_id text collate "C" references account (id) on delete set null
);
create index takedown_actor_id on takedown (actor_id) where actor_id is not null;
create index takedown_undone_by_id on takedown (undone_by_id) where undone_by_id is not null;

-- Contents that nobody can upload or download. They stay blocked when the files are deleted.
create table blocked_content (
  sha512 text collate "C" primary key check (sha512 ~ '^[0-9a-f]{128}$'),
  takedown_id text collate "C" not null references takedown (id) on delete cascade,
  filename text not null,
  size_bytes bigint not null,
  created timestamptz not null
);
create index blocked_content_takedown_id on blocked_content (takedown_id);
