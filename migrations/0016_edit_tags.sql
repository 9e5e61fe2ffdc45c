-- Lists of tags that operators have edited. A list without a row comes from the data files of the instance.
create table tag_list (
  name text primary key,
  rows jsonb not null,
  changed timestamptz not null default now(),
  revision bigint not null default 1,
  constraint tag_list_name_check check (name in ('games', 'loaders', 'categories', 'game_versions')),
  constraint tag_list_rows_check check (jsonb_typeof(rows) = 'array')
);
create trigger tag_list_revision before update on tag_list for each row execute function bump_revision();
