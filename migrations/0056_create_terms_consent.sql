-- Stores who agreed to which version of the Terms, and which versions ask users to agree again.

alter table page_version add column asks_again boolean not null default false;
alter table page_version add constraint page_version_asks_again_check
  check (not asks_again or (kind = 'terms' and text <> ''));

create table terms_consent (
  account_id text collate "C" not null references account on delete cascade,
  version integer not null,
  agreed timestamptz not null,
  primary key (account_id, version)
);
create index terms_consent_version_idx on terms_consent (version);
