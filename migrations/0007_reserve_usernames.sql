-- Names that accounts gave up by renaming. Until `expires`, only the former owner can use them again.
create table reserved_username (
  -- In lower case.
  username text primary key,
  account_id text collate "C" not null references account (id) on delete cascade,
  expires timestamptz not null
);
create index reserved_username_account_id_idx on reserved_username (account_id);
create index reserved_username_expires_idx on reserved_username (expires);
