-- Stores passkeys of accounts, and challenges of sign-ins whose account is not known yet.

create table passkey (
  id text collate "C" primary key,
  account_id text collate "C" not null references account on delete cascade,
  name text not null constraint passkey_name_check check (length(name) between 1 and 64),
  credential_id bytea not null constraint passkey_credential_id_key unique,
  -- In the format of the authenticator (COSE).
  public_key bytea not null,
  -- Number of signatures. 0: the authenticator does not count.
  counter bigint not null,
  transports text[] not null default '{}',
  -- Whether the passkey is copied to other devices of the user.
  is_synced boolean not null,
  created timestamptz not null default now(),
  last_used timestamptz
);
create index passkey_account_id_idx on passkey (account_id);

-- The number of rows in passkey, so that a sign-in reads one row only.
alter table account add column passkey_count smallint not null default 0
  constraint account_passkey_count_check check (passkey_count between 0 and 20);
create or replace trigger account_revision before update on account
  for each row execute function raise_revision('totp_last_step', 'password_hash', 'password_is_temporary', 'passkey_count');

alter table account_flow alter column account_id drop not null;
alter table account_flow drop constraint account_flow_kind_check;
alter table account_flow add constraint account_flow_kind_check check (kind in (
  'verify_email', 'reset_password', 'sign_in_second_factor', 'set_up_totp', 'undo_email_change',
  'use_passkey', 'add_passkey'
));
