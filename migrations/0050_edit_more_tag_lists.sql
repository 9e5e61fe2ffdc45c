-- Tags: operators can also edit loader fields, licences and link platforms, and a removed game version does not return.
alter table tag_list drop constraint tag_list_name_check;
alter table tag_list add constraint tag_list_name_check
  check (name in ('games', 'loaders', 'categories', 'game_versions', 'loader_fields', 'licenses', 'link_platforms'));

-- The names of tags that operators have removed from this list.
alter table tag_list add column removed text[] not null default '{}';

-- The last attempts to read the manifest of game versions.
create table version_manifest (
  only_one boolean default true not null,
  read_at timestamptz,
  -- The first failure since then, and the reason of the last failure.
  failing_since timestamptz,
  reason text,
  constraint version_manifest_pkey primary key (only_one),
  constraint version_manifest_only_one_check check (only_one),
  constraint version_manifest_reason_check check (char_length(reason) <= 500)
);
