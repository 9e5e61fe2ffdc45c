-- "Not now" in the attention list: the item is hidden from the account until this time.
create table attention_dismissal (
  account_id text collate "C" not null references account (id) on delete cascade,
  kind text not null,
  project_id text collate "C" not null references project (id) on delete cascade,
  until timestamptz not null,
  primary key (account_id, kind, project_id)
);
create index attention_dismissal_project_id_idx on attention_dismissal (project_id);
