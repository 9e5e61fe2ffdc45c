-- A moderator's claim of a project under review. It no longer counts after `until`, and a decision deletes it.
create table moderation_claim (
  project_id text collate "C" primary key references project (id) on delete cascade,
  account_id text collate "C" not null references account (id) on delete cascade,
  until timestamptz not null
);
create index moderation_claim_account_id_idx on moderation_claim (account_id);
