-- People, what they sign in with, and the tokens that stand for them. Identifiers are 8 random base62 characters made
-- by the application and compared byte by byte; secrets are stored as hashes only.

-- Every change of a row that is served from the cache counts its revision up; an older copy never replaces a newer.
create function bump_revision() returns trigger language plpgsql as $$
begin
  new.revision := old.revision + 1;
  return new;
end
$$;

-- What each transaction changed of what processes keep in memory: one row a transaction, visible from the moment of its
-- commit. Processes send each other notices of new rows after the commit, since a transaction that sends one itself
-- waits for every other that does; and they read the rows that no notice has named. Rows are deleted after a minute or
-- two. The table is unlogged: it is emptied when the server crashes, which also ends every connection that follows it.
create unlogged table change_log (
  transaction xid8 not null default pg_current_xact_id(),
  -- The name under which notices speak of it.
  id text collate "C" not null,
  -- Kinds with the IDs that changed, or "all".
  changes jsonb not null
);
-- Not unique: checking that costs each commit almost half of what its row does.
create index change_log_transaction_idx on change_log (transaction);

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
  -- Of a suspension; one without an end has no `suspended_until`. It is over when its end has passed.
  suspended_at timestamptz,
  suspended_until timestamptz,
  suspension_reason text,
  -- When it is deleted, of an account whose deletion can still be undone. Nobody finds such an account.
  deletion_due timestamptz,
  created timestamptz not null default now(),
  revision bigint not null default 1,
  constraint account_role_check check (role in ('developer', 'moderator', 'admin')),
  constraint account_username_check check (char_length(username) between 1 and 39),
  constraint account_suspension_check check (
    (suspended_at is null) = (suspension_reason is null) and (suspended_at is not null or suspended_until is null)
    and char_length(suspension_reason) between 1 and 1000
  ),
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
create index account_deletion_due_idx on account (deletion_due) where deletion_due is not null;

create trigger account_revision before update on account for each row execute function bump_revision();

-- What an undone deletion gives back to an account; there is a row while `account.deletion_due` is set.
create table account_deletion (
  account_id text collate "C" primary key references account (id) on delete cascade,
  requested timestamptz not null default now(),
  -- Whether the owner asked for it, who may undo it then; what an operator has deleted, an operator gives back.
  by_owner boolean not null,
  -- Memberships, follows, and IDs of versions, applications and collections, as they were.
  handed_over jsonb not null
);

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
  -- The network of the last use, not the whole IP address.
  last_network text,
  -- Limits of a fine-grained token; null: no limit. A token with either list of resources is limited to both lists.
  project_ids text[],
  organization_ids text[],
  addresses cidr[],
  constraint personal_access_token_limits_check check (
    coalesce(cardinality(project_ids), 1) between 1 and 100 and coalesce(cardinality(organization_ids), 1) between 1 and 100
    and coalesce(cardinality(addresses), 1) between 1 and 100
  ),
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

-- The link that makes the first admin of an instance, printed by a start; a later start replaces it.
create table first_admin_link (
  only_one boolean primary key default true,
  token_hash bytea not null,
  expires timestamptz not null,
  constraint first_admin_link_only_one_check check (only_one)
);

-- A code with which people make accounts where registration is by invitation. `uses` grows with each account that is made.
create table invitation (
  id text collate "C" primary key,
  code_hash bytea not null,
  -- Only for this address, case aside.
  email text,
  note text not null default '',
  uses integer not null default 0,
  uses_max integer not null,
  created timestamptz not null,
  expires timestamptz not null,
  constraint invitation_code_hash_key unique (code_hash),
  constraint invitation_uses_check check (uses between 0 and uses_max),
  constraint invitation_note_check check (char_length(note) <= 200)
);
create index invitation_expires_idx on invitation (expires);

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

-- For each job that runs by the clock, the time for which it was enqueued last, in minutes since 1970.
create table job_schedule (
  job text primary key,
  slot bigint not null
);

-- The workers of all processes, and when each last said that it lives.
create table job_worker (
  id text collate "C" primary key,
  seen timestamptz not null
);

-- Who did what to which thing, when and from where. Nothing here refers to another table: an entry outlives the thing
-- and the account. `account_ids` are all accounts that an entry is about, the one that acted among them; `details` name
-- no account. `address` is dropped sooner than the entry.
create table audit_entry (
  id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  action text not null,
  actor_kind text not null,
  actor_id text collate "C",
  token_kind text,
  token_id text collate "C",
  address text,
  subject_kind text,
  subject_id text collate "C",
  account_ids text[] not null default '{}',
  details jsonb not null default '{}',
  constraint audit_entry_actor_check check (
    actor_kind in ('account', 'operator', 'command', 'system', 'anonymous')
    and (actor_kind = 'account') = (actor_id is not null)
  ),
  constraint audit_entry_subject_check check (num_nulls(subject_kind, subject_id) in (0, 2)),
  constraint audit_entry_details_check check (octet_length(details::text) <= 16384)
);
create index audit_entry_at_idx on audit_entry (at);
create index audit_entry_action_idx on audit_entry (action, id);
create index audit_entry_actor_idx on audit_entry (actor_id, id);
create index audit_entry_subject_idx on audit_entry (subject_kind, subject_id, id);
create index audit_entry_account_ids_idx on audit_entry using gin (account_ids);
-- Finds the addresses that are due to be dropped.
create index audit_entry_address_idx on audit_entry (at) where address is not null;

-- Entries are added and not changed. Only a transaction that says so takes addresses, names and old entries out.
create function refuse_audit_change() returns trigger language plpgsql as $$
begin
  if coalesce(current_setting('depot.audit_maintenance', true), '') = 'on' then
    return case when tg_op = 'DELETE' then old else new end;
  end if;
  raise exception 'Entries of the audit log cannot be changed' using errcode = 'insufficient_privilege';
end
$$;

create trigger audit_entry_append_only before update or delete on audit_entry
  for each row execute function refuse_audit_change();
create trigger audit_entry_no_truncate before truncate on audit_entry
  for each statement execute function refuse_audit_change();

-- What operators change while the service runs, in the one row that there may be. Null, or no row, means as the
-- environment says.
create table instance_settings (
  singleton boolean primary key default true,
  name text,
  accent_hue integer,
  about text,
  rules text,
  announcement text,
  mark_url text,
  raw_mark_url text,
  mark_widths integer[] not null default '{}',
  registration text,
  read_only boolean,
  read_only_message text,
  changed timestamptz not null default now(),
  revision bigint not null default 1,
  constraint instance_settings_singleton_check check (singleton),
  constraint instance_settings_name_check check (char_length(name) between 1 and 64),
  constraint instance_settings_accent_hue_check check (accent_hue between 0 and 359),
  constraint instance_settings_about_check check (char_length(about) <= 20000),
  constraint instance_settings_rules_check check (char_length(rules) <= 50000),
  constraint instance_settings_announcement_check check (char_length(announcement) <= 1000),
  constraint instance_settings_mark_check check ((mark_url is null) = (raw_mark_url is null)),
  constraint instance_settings_registration_check check (registration in ('open', 'invitation', 'closed')),
  constraint instance_settings_read_only_message_check check (char_length(read_only_message) <= 500)
);
create trigger instance_settings_revision before update on instance_settings
  for each row execute function bump_revision();
