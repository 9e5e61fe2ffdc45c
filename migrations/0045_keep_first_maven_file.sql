-- A file takes no ending that its version has kept already. This holds for all but the first of many files of a version, for
-- each of which the files of all endings were chosen again.
create or replace function maven_files_changed() returns trigger language plpgsql as $$
begin
  if tg_table_name = 'project' then
    perform keep_maven_files(array(select id from version where project_id = new.id));
  elsif tg_table_name = 'version' then
    perform keep_maven_files(array[new.id]);
  elsif not exists (select from file_address where version_id = new.version_id
      and maven_ending(new.filename, new.file_type) = any(coordinates)) then
    perform keep_maven_files(array[new.version_id]);
  end if;
  return null;
end
$$;
