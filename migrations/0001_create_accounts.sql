-- People, what they sign in with, and the tokens that stand for them. Identifiers are 8 random base62 characters made
-- by the application and compared byte by byte; secrets are stored as hashes only.

-- Every change of a row that is served from the cache counts its revision up; an older copy never replaces a newer.
create function bump_revision() returns trigger language plpgsql as $$
begin
  new.revision := old.revision + 1;
  return new;
end
$$;

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

create table account (
  id text collate "C" primary key,
  username text not null,
  email text,
  email_verified boolean not null default false,
  password_hash text,
  bio text,
  avatar_url text,
  raw_avatar_url text,
  role text not null default 'developer',
  badges integer not null default 0,
  allow_friend_requests boolean not null default true,
  payout_handle text,
  totp_secret text,
  -- The newest 30-second step whose code was accepted: a code works once.
  totp_last_step bigint not null default 0,
  code_host_id text,
  created timestamptz not null default now(),
  revision bigint not null default 1,
  constraint account_role_check check (role in ('developer', 'moderator', 'admin')),
  constraint account_username_check check (char_length(username) between 1 and 39),
  constraint account_bio_check check (char_length(bio) <= 160),
  -- The account that stands for deleted ones is made when it is first needed; nobody else may have its name.
  constraint account_placeholder_check check ((id = 'deleted0') = (lower(username) = 'deleted-user'))
);
create unique index account_username_key on account (lower(username));
-- A new username may not equal anybody's ID, case aside.
create index account_lower_id_idx on account (lower(id));
-- Finds usernames by their beginning, in alphabetical order, whatever the collation of the database.
create index account_username_prefix_idx on account ((lower(username) collate "C"));
create unique index account_email_key on account (lower(email));
create unique index account_code_host_key on account (code_host_id);

create trigger account_revision before update on account for each row execute function bump_revision();

create table session (
  id text collate "C" primary key,
  account_id text collate "C" not null references account (id) on delete cascade,
  token_hash bytea not null,
  created timestamptz not null default now(),
  last_login timestamptz not null default now(),
  expires timestamptz not null,
  refresh_expires timestamptz not null,
  -- When the password was last given: what moves ownership of an account asks for it again some minutes later.
  confirmed_at timestamptz,
  user_agent text not null,
  ip text not null,
  os text,
  platform text,
  city text,
  country text,
  constraint session_token_hash_key unique (token_hash)
);
create index session_account_id_idx on session (account_id);
create index session_refresh_expires_idx on session (refresh_expires);

create table personal_access_token (
  id text collate "C" primary key,
  account_id text collate "C" not null references account (id) on delete cascade,
  name text not null,
  token_hash bytea not null,
  scopes bigint not null,
  created timestamptz not null default now(),
  expires timestamptz not null,
  last_used timestamptz,
  constraint personal_access_token_hash_key unique (token_hash),
  constraint personal_access_token_name_check check (char_length(name) between 3 and 255)
);
create index personal_access_token_account_id_idx on personal_access_token (account_id);

-- One step of something that takes two: a mailed link, the second factor of a sign-in, a TOTP secret not yet confirmed.
-- `undo_email_change` is the link for the former address.
create table account_flow (
  token_hash bytea primary key,
  kind text not null,
  account_id text collate "C" not null references account (id) on delete cascade,
  data jsonb not null default '{}',
  expires timestamptz not null,
  constraint account_flow_kind_check
    check (kind in ('verify_email', 'reset_password', 'sign_in_second_factor', 'set_up_totp', 'undo_email_change'))
);
create index account_flow_account_id_idx on account_flow (account_id);
create index account_flow_expires_idx on account_flow (expires);

create table backup_code (
  account_id text collate "C" not null references account (id) on delete cascade,
  code_hash bytea not null,
  primary key (account_id, code_hash)
);

-- An operator's exception to the default quotas; null means the default.
create table quota_override (
  account_id text collate "C" primary key references account (id) on delete cascade,
  projects integer,
  organizations integer,
  collections integer
);

-- A higher request rate for one account's token or for an address range.
create table rate_limit_grant (
  id text collate "C" primary key,
  token_id text collate "C",
  address_range cidr,
  requests_per_minute integer not null,
  note text not null default '',
  created timestamptz not null default now(),
  constraint rate_limit_grant_subject_check check (num_nonnulls(token_id, address_range) = 1),
  constraint rate_limit_grant_rate_check check (requests_per_minute between 1 and 1000000),
  constraint rate_limit_grant_token_key unique (token_id),
  constraint rate_limit_grant_range_key unique (address_range)
);

-- Secrets that every process of this Depot shares, made by whichever needs one first and never changed. They are worth
-- nothing outside: whoever can read them here can read everything they protect.

create table instance_secret (
  name text primary key,
  secret bytea not null,
  created timestamptz not null default now(),
  constraint instance_secret_length_check check (length(secret) = 32)
);
