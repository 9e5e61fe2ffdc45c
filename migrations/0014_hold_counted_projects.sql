-- Storing a file holds its own project and no other. The planner may apply a condition on `version` before the join, so
-- that a function which locks, called in that condition, locked the projects of all versions: uploads to different
-- projects waited for each other, and deadlocked.
create or replace function files_counted() returns trigger language plpgsql as $$
declare
  difference constant integer := case when tg_op = 'DELETE' then -1 else 1 end;
begin
  with touched as materialized (
    select version.project_id, count(*) as files
    from changed join version on version.id = changed.version_id
    where is_listed(version.status)
    group by version.project_id
    order by version.project_id
  )
  insert into catalogue_change (files)
    select difference * sum(touched.files)::bigint from touched
    where is_searchable(held_status(touched.project_id))
    having count(*) > 0;
  return null;
end
$$;
