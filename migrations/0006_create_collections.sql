-- Collections of projects, and what follows, notifications and the search for people need beyond their tables.

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

create table collection_project (
  collection_id text collate "C" not null references collection (id) on delete cascade,
  project_id text collate "C" not null references project (id) on delete cascade,
  -- The creator's order; gaps are left by deleted projects.
  position integer not null,
  primary key (collection_id, project_id),
  constraint collection_project_position_check check (position between 0 and 1023)
);
create index collection_project_project_id_idx on collection_project (project_id);

-- What made a notification, where it is made for many accounts by a job that may run twice: one cause, one row each.
alter table notification add column cause text collate "C";
create unique index notification_cause_key on notification (account_id, cause) where cause is not null;

-- Followers of one project are walked through in order, some thousands at a time.
create index follow_project_account_idx on follow (project_id, account_id);
drop index follow_project_id_idx;

-- Finds usernames by their beginning, in alphabetical order, whatever the collation of the database.
create index account_username_prefix_idx on account ((lower(username) collate "C"));

-- The account that stands for deleted ones is made when it is first needed; nobody else may have its name.
alter table account add constraint account_placeholder_check check ((id = 'deleted0') = (lower(username) = 'deleted-user'));

-- An identifier like those the application makes, for rows that one statement makes by the thousand: 8 base62
-- characters out of the 60 bits of a version 4 UUID that are random and lie before its variant.
create function random_id() returns text language plpgsql volatile as $$
declare
  digits constant text := '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  hex constant text := replace(gen_random_uuid()::text, '-', '');
  bits bigint := ('x' || substr(hex, 1, 12) || substr(hex, 14, 3))::bit(60)::bigint;
  id text := '';
begin
  for i in 1..8 loop
    id := id || substr(digits, (bits % 62)::int + 1, 1);
    bits := bits / 62;
  end loop;
  return id;
end
$$;
