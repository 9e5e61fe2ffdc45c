-- Which moderator handles the reports about an item. The item can be deleted, so it is named as in `report`.
create table report_claim (
  item_type text not null,
  item_id text not null,
  account_id text collate "C" not null references account on delete cascade,
  until timestamptz not null,
  primary key (item_type, item_id)
);
create index report_claim_account_id_idx on report_claim (account_id);
