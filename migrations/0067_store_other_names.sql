-- Projects: up to 5 other names, by which the search finds them.
alter table project add column other_names text[] not null default '{}'
  constraint project_other_names_check check (cardinality(other_names) <= 5);

create or replace function search_projects_updated() returns trigger language plpgsql as $$
declare
  renamed text[];
begin
  perform note_search_change((
    select array_agg(id) from (
      select id from (
        select id, slug, name, other_names, summary, license, categories, additional_categories, downloads, followers, icon_url,
          color, coalesce(approved, published), updated, team_id, organization_id
        from after where is_searchable(status)
        except
        select id, slug, name, other_names, summary, license, categories, additional_categories, downloads, followers, icon_url,
          color, coalesce(approved, published), updated, team_id, organization_id
        from before where is_searchable(status)) shown
      union all (
        select id from before where is_searchable(status) except select id from after where is_searchable(status))
    ) changed));
  -- Others show its name, its slug and its icon while anybody may see it.
  renamed := (select array_agg(id) from (
    select id, name, slug, icon_url, status from after
    except select id, name, slug, icon_url, status from before) shown);
  if renamed is not null then
    perform note_search_change((select array_agg(id) from search_dependents(renamed) as dependents (id)));
  end if;
  return null;
end
$$;
