-- OAuth 2.0: applications of third parties, what people allow them, and the tokens they hold. Only hashes of secrets,
-- codes and tokens are stored.
--
-- Money: affiliate codes, what is earned, and what is paid out. Amounts are exact: 12 digits before the point, 8 after.
-- Earnings outlive projects, codes and accounts: a deleted account leaves its rows without a name.

create table oauth_client (
  id text collate "C" primary key,
  -- Applications of a deleted account go to the placeholder account.
  account_id text collate "C" not null references account (id),
  name text not null,
  description text,
  url text,
  icon_url text,
  raw_icon_url text,
  -- Null for a program that cannot keep a secret; it must use PKCE.
  secret_hash bytea,
  max_scopes bigint not null,
  created timestamptz not null default now(),
  constraint oauth_client_name_check check (char_length(name) between 3 and 255),
  constraint oauth_client_description_check check (char_length(description) <= 255),
  constraint oauth_client_url_check check (char_length(url) <= 255)
);
create index oauth_client_account_id_idx on oauth_client (account_id, created desc, id);

create table oauth_redirect_uri (
  id text collate "C" primary key,
  client_id text collate "C" not null references oauth_client (id) on delete cascade,
  uri text collate "C" not null,
  position smallint not null,
  constraint oauth_redirect_uri_key unique (client_id, uri)
);

-- What an account allows an application, until it revokes that.
create table oauth_authorization (
  id text collate "C" primary key,
  client_id text collate "C" not null references oauth_client (id) on delete cascade,
  account_id text collate "C" not null references account (id) on delete cascade,
  scopes bigint not null,
  created timestamptz not null default now(),
  constraint oauth_authorization_key unique (client_id, account_id)
);
create index oauth_authorization_account_id_idx on oauth_authorization (account_id, created desc, id);

-- A question to an account that it has not answered yet.
create table oauth_flow (
  flow_hash bytea primary key,
  client_id text collate "C" not null references oauth_client (id) on delete cascade,
  account_id text collate "C" not null references account (id) on delete cascade,
  scopes bigint not null,
  redirect_uri text not null,
  state text,
  code_challenge text,
  expires timestamptz not null
);
create index oauth_flow_client_id_idx on oauth_flow (client_id);
create index oauth_flow_account_id_idx on oauth_flow (account_id, expires);
create index oauth_flow_expires_idx on oauth_flow (expires);

-- A code waits here to be exchanged; the exchange deletes it.
create table oauth_code (
  code_hash bytea primary key,
  authorization_id text collate "C" not null references oauth_authorization (id) on delete cascade,
  client_id text collate "C" not null references oauth_client (id) on delete cascade,
  account_id text collate "C" not null references account (id) on delete cascade,
  scopes bigint not null,
  redirect_uri text not null,
  code_challenge text,
  expires timestamptz not null
);
create index oauth_code_authorization_id_idx on oauth_code (authorization_id, expires);
create index oauth_code_client_id_idx on oauth_code (client_id);
create index oauth_code_account_id_idx on oauth_code (account_id);
create index oauth_code_expires_idx on oauth_code (expires);

create table oauth_token (
  id text collate "C" primary key,
  authorization_id text collate "C" not null references oauth_authorization (id) on delete cascade,
  client_id text collate "C" not null references oauth_client (id) on delete cascade,
  account_id text collate "C" not null references account (id) on delete cascade,
  token_hash bytea not null,
  -- The code it was given for: a client that sends that code again ends the token.
  code_hash bytea not null,
  scopes bigint not null,
  created timestamptz not null default now(),
  expires timestamptz not null,
  last_used timestamptz,
  constraint oauth_token_hash_key unique (token_hash),
  constraint oauth_token_code_key unique (code_hash)
);
create index oauth_token_authorization_id_idx on oauth_token (authorization_id, created desc);
create index oauth_token_client_id_idx on oauth_token (client_id);
create index oauth_token_account_id_idx on oauth_token (account_id);
create index oauth_token_expires_idx on oauth_token (expires);

create table affiliate_code (
  id text collate "C" primary key,
  -- Whose code it is, and who made it.
  account_id text collate "C" not null references account (id) on delete cascade,
  created_by text collate "C" references account (id) on delete set null,
  source_name text not null,
  -- Part of an amount that goes to the owner; null means the operator's default.
  share numeric(7, 6),
  created timestamptz not null default now(),
  constraint affiliate_code_source_name_check check (char_length(source_name) between 1 and 255),
  constraint affiliate_code_share_check check (share between 0 and 1)
);
create index affiliate_code_account_id_idx on affiliate_code (account_id, created);
create index affiliate_code_created_by_idx on affiliate_code (created_by);

-- An amount that an operator gave for a day, distributed once.
create table revenue_part (
  id bigint generated always as identity primary key,
  external_id text not null,
  -- Midnight UTC.
  day timestamptz not null,
  amount numeric(20, 8) not null,
  created timestamptz not null default now(),
  constraint revenue_part_external_id_key unique (external_id),
  constraint revenue_part_external_id_check check (char_length(external_id) between 1 and 255),
  constraint revenue_part_amount_check check (amount > 0)
);

-- What one person got of it for one project.
create table revenue_share (
  id bigint generated always as identity primary key,
  part_id bigint not null references revenue_part (id),
  project_id text collate "C" not null,
  account_id text collate "C" references account (id) on delete set null,
  day timestamptz not null,
  amount numeric(20, 8) not null,
  available timestamptz not null,
  constraint revenue_share_key unique (part_id, project_id, account_id),
  constraint revenue_share_amount_check check (amount > 0)
);
create index revenue_share_project_id_idx on revenue_share (project_id, day);
create index revenue_share_account_id_idx on revenue_share (account_id);

-- A sale that an affiliate code brought about.
create table affiliate_conversion (
  id bigint generated always as identity primary key,
  external_id text not null,
  affiliate_code_id text collate "C" not null,
  -- The owner of the code at that time.
  account_id text collate "C" references account (id) on delete set null,
  converted timestamptz not null,
  amount numeric(20, 8) not null,
  revenue numeric(20, 8) not null,
  available timestamptz not null,
  created timestamptz not null default now(),
  constraint affiliate_conversion_external_id_key unique (external_id),
  constraint affiliate_conversion_external_id_check check (char_length(external_id) between 1 and 255),
  constraint affiliate_conversion_amount_check check (amount >= 0 and revenue between 0 and amount)
);
create index affiliate_conversion_code_idx on affiliate_conversion (affiliate_code_id, converted);
create index affiliate_conversion_account_id_idx on affiliate_conversion (account_id);

-- What an operator paid, or is about to.
create table payout (
  id text collate "C" primary key,
  external_id text not null,
  account_id text collate "C" references account (id) on delete set null,
  amount numeric(20, 8) not null,
  fee numeric(20, 8) not null default 0,
  status text not null,
  -- Where it went, as the person had it at that time.
  address text,
  created timestamptz not null default now(),
  constraint payout_external_id_key unique (external_id),
  constraint payout_external_id_check check (char_length(external_id) between 1 and 255),
  constraint payout_amount_check check (amount > 0 and fee >= 0),
  constraint payout_status_check check (status in ('in-transit', 'success', 'cancelled', 'failed'))
);
create index payout_account_id_idx on payout (account_id, created);
