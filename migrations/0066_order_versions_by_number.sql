-- Projects choose whether their newest version is the last published one or the one with the highest number. Large instances can
-- create the index before the update, after the new column of version:
-- create index concurrently version_list_idx on version (project_id, ordering, number_key desc nulls last, date_published desc, id)
--   where is_listed(status);
alter table project add column version_order text not null default 'date'
  constraint project_version_order_check check (version_order in ('date', 'number'));

-- Null if the project orders its versions by date.
alter table version add column number_key text collate "C";

-- Texts that sort as version numbers: 1.9 before 1.10, 2.0-beta.2 before 2.0. Numbers have their length first. Known words of test
-- versions sort before the end of a number, other words after it. What follows a plus sign is the name of a build.
create function version_number_key(number text) returns text language sql immutable parallel safe as $$
  select coalesce(string_agg(case
    when token ~ '^[0-9]' then 'n' || chr(64 + length(ltrim(token, '0'))) || ltrim(token, '0')
    when token in ('dev', 'nightly', 'snapshot') then 'a0'
    when token = 'alpha' then 'a1'
    when token = 'beta' then 'a2'
    when token in ('pre', 'preview') then 'a3'
    when token = 'rc' then 'a4'
    else 'f' || token end, ' ' order by place), '') || ' e'
  from (
    select found[1] as token, place
    from regexp_matches(regexp_replace(lower(split_part(number, '+', 1)), '^v([0-9])', '\1'), '[0-9]+|[a-z]+', 'g')
      with ordinality as matches (found, place)) tokens
$$;

create function set_number_key() returns trigger language plpgsql as $$
begin
  new.number_key := case when (select version_order from project where id = new.project_id) = 'number'
    then version_number_key(new.version_number) end;
  return new;
end $$;
create trigger version_number_keyed before insert or update of version_number on version
  for each row execute function set_number_key();

create function order_versions() returns trigger language plpgsql as $$
begin
  update version set number_key = case when new.version_order = 'number' then version_number_key(version_number) end
    where project_id = new.id;
  return null;
end $$;
create trigger project_versions_ordered after update of version_order on project
  for each row when (old.version_order <> new.version_order) execute function order_versions();

-- The search knows the order of versions.
create or replace function search_versions_updated() returns trigger language plpgsql as $$
begin
  perform note_search_change((
    select array_agg(project_id) from (
      (select project_id, id, status, date_published, ordering, number_key, loaders, fields, withdrawn_at from after
        where is_listed(status)
        except select project_id, id, status, date_published, ordering, number_key, loaders, fields, withdrawn_at from before
        where is_listed(status))
      union all
      (select project_id, id, status, date_published, ordering, number_key, loaders, fields, withdrawn_at from before
        where is_listed(status)
        except select project_id, id, status, date_published, ordering, number_key, loaders, fields, withdrawn_at from after
        where is_listed(status))
    ) shown));
  return null;
end $$;

-- No view shows the key.
create or replace trigger version_revision before update on version for each row when (old.downloads = new.downloads)
  execute function raise_revision('imported_downloads', 'number_key');

create index if not exists version_list_idx on version
  (project_id, ordering, number_key desc nulls last, date_published desc, id) where is_listed(status);
drop index version_listed_idx;
