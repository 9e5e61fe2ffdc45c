-- The version of a dependent that counts as its latest is the first of its list, whose order publishers can choose.
create or replace function refresh_dependents(changed_ids text[]) returns void language plpgsql as $$
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
      order by ordering, date_published desc, id limit 1) newest
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

create or replace function dependents_of_versions_updated() returns trigger language plpgsql as $$
begin
  perform refresh_dependents((
    select array_agg(distinct project_id) from (
      (select project_id, id, date_published, ordering from after where is_listed(status)
        except select project_id, id, date_published, ordering from before where is_listed(status))
      union all
      (select project_id, id, date_published, ordering from before where is_listed(status)
        except select project_id, id, date_published, ordering from after where is_listed(status))
    ) shown));
  return null;
end
$$;

select refresh_dependents((select array_agg(distinct project_id) from version where ordering is not null and is_listed(status)));
