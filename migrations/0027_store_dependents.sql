-- The dependents of every project in the order in which lists show them. Sorting them for each page is the largest cost of
-- a project that thousands of others use.

create table project_dependent (
  project_id text collate "C" not null,
  dependent_id text collate "C" not null,
  -- The types of the dependencies: 1 required, 2 optional, 4 incompatible, 8 embedded.
  types smallint not null,
  -- Number of listed versions of the dependent that depend on the project, and whether its newest one does.
  versions integer not null,
  latest boolean not null,
  -- Of the dependent. Its downloads have three significant digits, so that few downloads change the order.
  downloads bigint not null,
  updated timestamptz not null,
  primary key (dependent_id, project_id),
  constraint project_dependent_types_check check (types between 1 and 15)
);
create index project_dependent_downloads_idx on project_dependent (project_id, downloads desc, dependent_id)
  include (types, latest, versions);
create index project_dependent_updated_idx on project_dependent (project_id, updated desc, dependent_id)
  include (types, latest, versions);

create table dependent_count (
  project_id text collate "C" not null,
  types smallint not null,
  latest boolean not null,
  total bigint not null,
  primary key (project_id, types, latest)
);

create function download_rank(downloads bigint) returns bigint language sql immutable as $$
  select trunc(downloads::numeric, least(0, 3 - length(downloads::text)))::bigint
$$;

-- The lock orders concurrent changes of one dependent: the second one reads what the first one has written.
create function refresh_dependents(changed_ids text[]) returns void language plpgsql as $$
begin
  if changed_ids is null then
    return;
  end if;
  perform from project where id = any(changed_ids) order by id for no key update;
  with present as (
    select dependency.project_id, project.id as dependent_id, count(distinct version.id) as versions,
      bit_or(case dependency_type when 'required' then 1 when 'optional' then 2 when 'incompatible' then 4 else 8 end)
        as types,
      bool_or(version.id = newest.id) as latest, download_rank(project.downloads) as downloads, project.updated
    from project
    cross join lateral (
      select id from version where project_id = project.id and is_listed(status)
      order by date_published desc, id limit 1) newest
    join version on version.project_id = project.id and is_listed(version.status)
    join dependency on dependency.dependent_id = version.id
    where project.id = any(changed_ids) and is_searchable(project.status) and dependency.project_id <> project.id
    group by dependency.project_id, project.id
  ), gone as (
    delete from project_dependent old where old.dependent_id = any(changed_ids) and not exists (
      select from present where present.project_id = old.project_id and present.dependent_id = old.dependent_id)
  )
  insert into project_dependent as old (project_id, dependent_id, types, versions, latest, downloads, updated)
  select project_id, dependent_id, types, versions, latest, downloads, updated from present order by dependent_id, project_id
  on conflict (dependent_id, project_id) do update set types = excluded.types, versions = excluded.versions,
    latest = excluded.latest, downloads = excluded.downloads, updated = excluded.updated
  where (old.types, old.versions, old.latest, old.downloads, old.updated)
    is distinct from (excluded.types, excluded.versions, excluded.latest, excluded.downloads, excluded.updated);
end
$$;

create function dependents_of_versions_changed() returns trigger language plpgsql as $$
begin
  -- A new version has no dependencies yet. It changes `latest` of those that its project has.
  perform refresh_dependents((
    select array_agg(distinct project_id) from changed where is_listed(status)
      and exists (select from project_dependent where dependent_id = changed.project_id)));
  return null;
end
$$;
create trigger dependents_version_inserted after insert on version referencing new table as changed
  for each statement execute function dependents_of_versions_changed();
create trigger dependents_version_deleted after delete on version referencing old table as changed
  for each statement execute function dependents_of_versions_changed();

create function dependents_of_versions_updated() returns trigger language plpgsql as $$
begin
  perform refresh_dependents((
    select array_agg(distinct project_id) from (
      (select project_id, id, date_published from after where is_listed(status)
        except select project_id, id, date_published from before where is_listed(status))
      union all
      (select project_id, id, date_published from before where is_listed(status)
        except select project_id, id, date_published from after where is_listed(status))
    ) shown));
  return null;
end
$$;
create trigger dependents_version_updated after update on version referencing old table as before new table as after
  for each statement execute function dependents_of_versions_updated();

create function dependents_of_dependencies_changed() returns trigger language plpgsql as $$
declare
  ids text[];
begin
  if tg_op = 'UPDATE' then
    ids := array(select dependent_id from (
      (select dependent_id, project_id, dependency_type from after
        except all select dependent_id, project_id, dependency_type from before)
      union all
      (select dependent_id, project_id, dependency_type from before
        except all select dependent_id, project_id, dependency_type from after)) shown);
  else
    ids := array(select dependent_id from changed);
  end if;
  -- The versions of a deleted project are no longer there; their own deletion is a change.
  perform refresh_dependents((
    select array_agg(distinct project_id) from version where id = any(ids) and is_listed(status)));
  return null;
end
$$;
create trigger dependents_dependency_inserted after insert on dependency referencing new table as changed
  for each statement execute function dependents_of_dependencies_changed();
create trigger dependents_dependency_updated after update on dependency referencing old table as before new table as after
  for each statement execute function dependents_of_dependencies_changed();
create trigger dependents_dependency_deleted after delete on dependency referencing old table as changed
  for each statement execute function dependents_of_dependencies_changed();

create function dependents_of_project_updated() returns trigger language plpgsql as $$
begin
  if is_searchable(old.status) <> is_searchable(new.status) then
    perform refresh_dependents(array[new.id]);
  else
    update project_dependent set downloads = download_rank(new.downloads), updated = new.updated
      where dependent_id = new.id;
  end if;
  return null;
end
$$;
create trigger dependents_project_updated after update on project for each row
  when (is_searchable(old.status) <> is_searchable(new.status) or is_searchable(new.status)
    and (old.updated <> new.updated or download_rank(old.downloads) <> download_rank(new.downloads)))
  execute function dependents_of_project_updated();

create function count_dependents() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' then
    perform add_dependents(array(
      select (project_id, types, latest, sum(number))::dependent_count from (
        select project_id, types, latest, 1 as number from after union all select project_id, types, latest, -1 from before
      ) moved group by project_id, types, latest having sum(number) <> 0));
  else
    perform add_dependents(array(
      select (project_id, types, latest, count(*) * case tg_op when 'INSERT' then 1 else -1 end)::dependent_count
      from changed group by project_id, types, latest));
  end if;
  return null;
end
$$;
create function add_dependents(added dependent_count[]) returns void language sql as $$
  insert into dependent_count as present select * from unnest(added) order by 1, 2, 3
    on conflict (project_id, types, latest) do update set total = present.total + excluded.total;
  delete from dependent_count using unnest(added) as removed
    where dependent_count.project_id = removed.project_id and dependent_count.types = removed.types
      and dependent_count.latest = removed.latest and removed.total < 0 and dependent_count.total = 0;
$$;
create trigger count_dependent_inserted after insert on project_dependent referencing new table as changed
  for each statement execute function count_dependents();
create trigger count_dependent_updated after update on project_dependent referencing old table as before new table as after
  for each statement execute function count_dependents();
create trigger count_dependent_deleted after delete on project_dependent referencing old table as changed
  for each statement execute function count_dependents();

select refresh_dependents((select array_agg(id) from project where is_searchable(status)));
