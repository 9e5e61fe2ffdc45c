-- Maven coordinates: the first public file for a classifier and an extension keeps them, also after it is deleted.
alter table file_address add column coordinates text[] not null default '{}';

-- The end of a coordinate, such as `.jar` or `-sources.jar`; null without an extension.
create function maven_ending(filename text, file_type text) returns text language sql immutable as $$
  select coalesce('-' || case when file_type is null or file_type = 'unknown'
      then coalesce(substring(lower(filename) from '-(sources|javadoc|dev)\.[a-z0-9]{1,16}$'), file_type)
      else regexp_replace(file_type, '-jar$', '') end, '')
    || substring(lower(filename) from '\.[a-z0-9]{1,16}$')
$$;

-- The file of each ending: the file that has kept it, otherwise the file that is named like the coordinate, otherwise the
-- first file of the version.
create function maven_files(version_ids text[]) returns table (version_id text, ending text, filename text)
language sql stable as $$
  select distinct on (found.version_id, found.ending) found.version_id, found.ending, found.filename from (
    select version_id, unnest(coordinates) as ending, filename, true as is_kept, false as is_named, false as is_primary
    from file_address where version_id = any(version_ids)
    union all
    select version.id, named.ending, file.filename, false,
      lower(file.filename) = lower(project.slug || '-' || version.version_number || named.ending), file.is_primary
    from version join project on project.id = version.project_id join file on file.version_id = version.id
      cross join lateral maven_ending(file.filename, file.file_type) as named (ending)
    where version.id = any(version_ids)) found
  where found.ending is not null
  order by found.version_id, found.ending, found.is_kept desc, found.is_named desc, found.is_primary desc, found.filename
$$;

-- Until a version and its project are public, its members can still exchange files.
-- In plpgsql, which keeps the plans, and one version at a time, for which they are good: this runs for each new file.
create function keep_maven_files(version_ids text[]) returns void language plpgsql as $$
declare
  public_id text;
  kept record;
begin
  for public_id in
    select version.id from version join project on project.id = version.project_id
    where version.id = any(version_ids) and is_listed(version.status)
      and project.status in ('approved', 'archived', 'unlisted', 'withheld')
  loop
    for kept in select * from maven_files(array[public_id]) loop
      update file_address set coordinates = coordinates || kept.ending
      where version_id = public_id and filename = kept.filename and not kept.ending = any(coordinates);
    end loop;
  end loop;
end
$$;

create function maven_files_changed() returns trigger language plpgsql as $$
begin
  if tg_table_name = 'project' then
    perform keep_maven_files(array(select id from version where project_id = new.id));
  elsif tg_table_name = 'version' then
    perform keep_maven_files(array[new.id]);
  else
    perform keep_maven_files(array[new.version_id]);
  end if;
  return null;
end
$$;
-- Deferred, because a version is published with several files, of which the first inserted is not always the main file.
create constraint trigger maven_files_added after insert or update of file_type on file
  deferrable initially deferred for each row execute function maven_files_changed();
create constraint trigger maven_files_listed after update of status on version deferrable initially deferred
  for each row when (is_listed(new.status) and not is_listed(old.status)) execute function maven_files_changed();
create constraint trigger maven_files_shown after update of status on project deferrable initially deferred
  for each row when (old.status <> new.status) execute function maven_files_changed();

select keep_maven_files(array(select id from version));
