-- OAuth 2.0: applications of third parties, what people allow them, and the tokens they hold. Only hashes of secrets,
-- codes and tokens are stored.

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
  -- The code it was given for: whoever sends that code again ends the token.
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
