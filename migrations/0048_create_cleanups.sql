-- What moderators and operators removed with several accounts, so that it can be undone for an hour. A job then deletes these rows.
create table account_cleanup (
  id text collate "C" primary key check (id ~ '^[0-9A-Za-z]{8}$'),
  action text not null,
  created timestamptz not null,
  actor_id text collate "C" references account (id) on delete set null,
  constraint account_cleanup_action_check check (action in ('spam', 'remove_content', 'suspend', 'delete'))
);
create index account_cleanup_actor_id_idx on account_cleanup (actor_id) where actor_id is not null;
create index account_cleanup_created_idx on account_cleanup (created);

-- An account with its values before the cleanup. Its key prevents a second cleanup until the first is final.
create table cleaned_account (
  account_id text collate "C" primary key references account (id) on delete cascade,
  cleanup_id text collate "C" not null references account_cleanup (id) on delete cascade,
  bio text,
  avatar_url text,
  raw_avatar_url text,
  suspended_at timestamptz,
  suspended_until timestamptz,
  suspension_reason text,
  -- The projects and collections with their status, and the organizations.
  content jsonb not null
);
create index cleaned_account_cleanup_id_idx on cleaned_account (cleanup_id);

-- An organization that a cleanup hides until the job deletes it.
alter table organization add column hidden boolean not null default false;
