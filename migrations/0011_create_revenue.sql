-- Money: affiliate codes, what is earned, and what is paid out. Amounts are exact: 12 digits before the point, 8 after.
-- Earnings outlive projects, codes and accounts: a deleted account leaves its rows without a name.
-- Downloads: how far the counters in `project` and `version` have followed the recorded events.

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

-- One row: which store of events the counters follow, and the newest batch they have taken in. Written in the
-- transaction that moves the counters, so that a crash between the two stores loses and doubles nothing.
create table download_ledger (
  only_row boolean primary key default true,
  store_id text,
  applied bigint not null default 0,
  -- The store was replaced or restored: what the counters have beyond its events becomes `imported_downloads`.
  needs_rebase boolean not null default false,
  constraint download_ledger_only_row_check check (only_row)
);
insert into download_ledger default values;

-- Downloads that no event stands for: what a row was made with (demo data, a move from elsewhere).
alter table project add column imported_downloads bigint not null default 0;
alter table version add column imported_downloads bigint not null default 0;
update project set imported_downloads = downloads where downloads > 0;
update version set imported_downloads = downloads where downloads > 0;

create function keep_imported_downloads() returns trigger language plpgsql as $$
begin
  new.imported_downloads := new.downloads;
  return new;
end
$$;
create trigger project_imported before insert on project for each row
  when (new.downloads > 0) execute function keep_imported_downloads();
create trigger version_imported before insert on version for each row
  when (new.downloads > 0) execute function keep_imported_downloads();
