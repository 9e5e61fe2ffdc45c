-- Stores which accounts of other services sign in to an account.

create table account_provider (
  provider text not null,
  -- ID of the user at the provider.
  subject text not null,
  account_id text collate "C" not null references account on delete cascade,
  -- Name of the user at the provider, for the settings.
  name text not null constraint account_provider_name_check check (length(name) <= 256),
  created timestamptz not null default now(),
  last_used timestamptz,
  primary key (provider, subject),
  constraint account_provider_account_key unique (account_id, provider)
);

-- The providers in account_provider, so that a view of the account reads one row.
alter table account add column sign_in_providers text[] not null default '{}';

alter table account_flow drop constraint account_flow_kind_check;
alter table account_flow add constraint account_flow_kind_check check (kind in (
  'verify_email', 'reset_password', 'sign_in_second_factor', 'set_up_totp', 'undo_email_change',
  'use_passkey', 'add_passkey', 'provider_sign_in', 'provider_sign_up'
));
