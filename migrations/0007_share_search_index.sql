-- Search indexes that all processes share: up to which moment the one that feeds it has followed the database. One row
-- for each index; the state is null until its first build is done.

create table search_index (
  name text collate "C" primary key,
  -- Counted up by each process that begins to feed the index, so that one before it writes here no more.
  holder bigint not null default 1,
  snapshot text,
  database text,
  basis text,
  -- The last request to rebuild (search_rebuild) that this index has met.
  rebuilt bigint not null default 0,
  identity text,
  constraint search_index_state_check check ((snapshot is null) = (database is null) and (snapshot is null) = (basis is null))
);
