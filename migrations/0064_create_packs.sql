-- Saved packs of accounts: projects for a setup, and numbered saves. Each save has a lock, which the job that forgets locks keeps.
create table pack (
  id text collate "C" primary key,
  account_id text collate "C" not null references account (id) on delete cascade,
  name text not null,
  slug text collate "C" not null,
  status text not null default 'listed',
  loader text,
  game_version text not null,
  loader_version text,
  created timestamptz not null default now(),
  updated timestamptz not null default now(),
  revision bigint not null default 1,
  constraint pack_slug_key unique (account_id, slug),
  constraint pack_slug_check check (slug ~ '^[a-z0-9-]{3,64}$'),
  constraint pack_name_check check (char_length(name) between 3 and 64),
  constraint pack_status_check check (status in ('listed', 'unlisted', 'private', 'rejected')),
  constraint pack_loader_version_check check (char_length(loader_version) between 1 and 64)
);
create index pack_created_idx on pack (account_id, created desc, id);

create table pack_project (
  pack_id text collate "C" not null references pack (id) on delete cascade,
  project_id text collate "C" not null references project (id) on delete cascade,
  position integer not null,
  primary key (pack_id, project_id),
  constraint pack_project_position_check check (position between 0 and 199)
);
create index pack_project_project_id_idx on pack_project (project_id);

create table pack_save (
  pack_id text collate "C" not null references pack (id) on delete cascade,
  number integer not null,
  lock_id text collate "C" not null references version_lock (id) on delete restrict,
  created timestamptz not null default now(),
  primary key (pack_id, number),
  constraint pack_save_number_check check (number > 0)
);
create index pack_save_lock_id_idx on pack_save (lock_id);

-- Previous slugs lead to the pack until another pack of the account has the slug.
create table pack_previous_slug (
  account_id text collate "C" not null references account (id) on delete cascade,
  slug text collate "C" not null,
  pack_id text collate "C" not null references pack (id) on delete cascade,
  primary key (account_id, slug)
);
create index pack_previous_slug_pack_id_idx on pack_previous_slug (pack_id);

create trigger pack_revision before update on pack for each row execute function raise_revision();
