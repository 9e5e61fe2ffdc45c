-- The order of versions is part of search hits and of projects: a hit names the first version of the list.
create or replace function search_versions_updated() returns trigger language plpgsql as $$
begin
  perform note_search_change((
    select array_agg(project_id) from (
      (select project_id, id, status, date_published, ordering, loaders, fields, withdrawn_at from after
        where is_listed(status)
        except select project_id, id, status, date_published, ordering, loaders, fields, withdrawn_at from before
        where is_listed(status))
      union all
      (select project_id, id, status, date_published, ordering, loaders, fields, withdrawn_at from before
        where is_listed(status)
        except select project_id, id, status, date_published, ordering, loaders, fields, withdrawn_at from after
        where is_listed(status))
    ) shown));
  return null;
end
$$;

-- The environment of a project is that of the first version of the list.
create or replace function raise_projects_of_versions_updated() returns trigger language plpgsql as $$
begin
  perform raise_revisions('project', 'id', (
    select array_agg(distinct project_id) from (
      (select project_id, id, date_published, ordering, loaders, fields from after where is_listed(status)
        except select project_id, id, date_published, ordering, loaders, fields from before where is_listed(status))
      union all
      (select project_id, id, date_published, ordering, loaders, fields from before where is_listed(status)
        except select project_id, id, date_published, ordering, loaders, fields from after where is_listed(status))
    ) changed));
  return null;
end
$$;
