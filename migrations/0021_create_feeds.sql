-- The identity of the instance, which feeds put into the IDs of their entries. Backups contain it, so that the IDs stay the
-- same when the instance moves to another address or another machine.
create table instance (
  only_row boolean primary key default true,
  id text collate "C" not null,
  created timestamptz not null default now(),
  constraint instance_only_row_check check (only_row),
  constraint instance_id_check check (id ~ '^[0-9A-Za-z]{16}$')
);
insert into instance (id) values (random_base62(16));

-- The secret address of a feed with the releases of the projects that a user follows.
create table follow_feed (
  account_id text collate "C" primary key references account (id) on delete cascade,
  secret_hash bytea not null,
  created timestamptz not null default now(),
  constraint follow_feed_secret_hash_key unique (secret_hash)
);
