-- What the search index follows: which projects changed, in every transaction that changes what search shows of them.
--
-- A follower remembers the snapshot up to which it has read, and reads the rows that this snapshot did not see: none is
-- missed, in whatever order transactions commit. Writers never wait for each other here: each adds rows of its own, and
-- takes away those that its own make needless. So there are about as many rows as there are projects that ever changed;
-- those of deleted projects stay, because an index that was closed meanwhile has yet to drop them.

create table search_change (
  project_id text collate "C" not null,
  transaction xid8 not null,
  primary key (project_id, transaction)
);
create index search_change_transaction_idx on search_change (transaction, project_id);

-- Orders the states of projects that are read for the index: a number is drawn before the state is read.
create sequence search_sequence;

-- How often operators asked for a new index, and the last request that some process has met. One row.
create table search_rebuild (
  id boolean primary key default true,
  requested bigint not null default 0,
  finished bigint not null default 0,
  constraint search_rebuild_id_check check (id)
);
insert into search_rebuild default values;

-- Notes that what search shows of these projects changes when this transaction commits. Rows of transactions that have
-- committed before are removed: a reader that sees the new row would see them too, and needs only one; a reader that
-- does not see the new row still sees them.
create function note_search_change(changed_ids text[]) returns void language plpgsql as $$
begin
  if changed_ids is null then
    return;
  end if;
  delete from search_change where ctid = any(array(
    select ctid from search_change
    where project_id = any(changed_ids) and transaction <> pg_current_xact_id()
    for update skip locked));
  insert into search_change (project_id, transaction)
    select distinct changed.id, pg_current_xact_id() from unnest(changed_ids) as changed (id) where changed.id is not null
    on conflict do nothing;
end
$$;

-- Projects that show these ones among their dependencies.
create function search_dependents(named_ids text[]) returns setof text language sql stable as $$
  select distinct version.project_id from dependency
  join version on version.id = dependency.dependent_id
  where dependency.project_id = any(named_ids)
$$;

create function search_projects_inserted() returns trigger language plpgsql as $$
begin
  perform note_search_change((select array_agg(id) from changed where is_searchable(status)));
  return null;
end
$$;
create trigger search_project_inserted after insert on project referencing new table as changed
  for each statement execute function search_projects_inserted();

-- A change of what search does not show, such as a moderator's message, is no change for it. What differs between two
-- tables of rows is found as a set: a join would keep the plan of its first, smallest call.
create function search_projects_updated() returns trigger language plpgsql as $$
declare
  renamed text[];
begin
  perform note_search_change((
    select array_agg(id) from (
      select id from (
        select id, slug, name, summary, license, categories, additional_categories, downloads, followers, icon_url,
          color, coalesce(approved, published), updated, team_id, organization_id
        from after where is_searchable(status)
        except
        select id, slug, name, summary, license, categories, additional_categories, downloads, followers, icon_url,
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
create trigger search_project_updated after update on project
  referencing old table as before new table as after
  for each statement execute function search_projects_updated();

-- What depends on it loses these dependencies, which says so itself.
create function search_projects_deleted() returns trigger language plpgsql as $$
begin
  perform note_search_change((select array_agg(id) from changed where is_searchable(status)));
  return null;
end
$$;
create trigger search_project_deleted after delete on project referencing old table as changed
  for each statement execute function search_projects_deleted();

-- Versions, whatever the status of their project: it may change at the same time.
create function search_versions_changed() returns trigger language plpgsql as $$
begin
  perform note_search_change((select array_agg(project_id) from changed where is_listed(status)));
  return null;
end
$$;
create trigger search_version_inserted after insert on version referencing new table as changed
  for each statement execute function search_versions_changed();
create trigger search_version_deleted after delete on version referencing old table as changed
  for each statement execute function search_versions_changed();

create function search_versions_updated() returns trigger language plpgsql as $$
begin
  perform note_search_change((
    select array_agg(project_id) from (
      (select project_id, id, status, date_published, loaders, fields from after where is_listed(status)
        except select project_id, id, status, date_published, loaders, fields from before where is_listed(status))
      union all
      (select project_id, id, status, date_published, loaders, fields from before where is_listed(status)
        except select project_id, id, status, date_published, loaders, fields from after where is_listed(status))
    ) shown));
  return null;
end
$$;
create trigger search_version_updated after update on version
  referencing old table as before new table as after
  for each statement execute function search_versions_updated();

create function search_dependencies_changed() returns trigger language plpgsql as $$
begin
  perform note_search_change((
    select array_agg(version.project_id) from changed join version on version.id = changed.dependent_id));
  return null;
end
$$;
create trigger search_dependency_inserted after insert on dependency referencing new table as changed
  for each statement execute function search_dependencies_changed();
create trigger search_dependency_deleted after delete on dependency referencing old table as changed
  for each statement execute function search_dependencies_changed();

-- The deletion of a version takes it out of the dependencies that name it, of which search shows the project only.
create function search_dependencies_updated() returns trigger language plpgsql as $$
begin
  perform note_search_change((
    select array_agg(version.project_id) from (
      (select id, dependent_id, project_id, dependency_type from after
        except select id, dependent_id, project_id, dependency_type from before)
      union all
      (select id, dependent_id, project_id, dependency_type from before
        except select id, dependent_id, project_id, dependency_type from after)
    ) shown join version on version.id = shown.dependent_id));
  return null;
end
$$;
create trigger search_dependency_updated after update on dependency
  referencing old table as before new table as after
  for each statement execute function search_dependencies_updated();

create function search_gallery_changed() returns trigger language plpgsql as $$
begin
  perform note_search_change((select array_agg(project_id) from changed));
  return null;
end
$$;
create trigger search_gallery_inserted after insert on gallery_item referencing new table as changed
  for each statement execute function search_gallery_changed();
create trigger search_gallery_deleted after delete on gallery_item referencing old table as changed
  for each statement execute function search_gallery_changed();

create function search_gallery_updated() returns trigger language plpgsql as $$
begin
  perform note_search_change((
    select array_agg(project_id) from (
      (select id, project_id, url, featured, ordering, created from after
        except select id, project_id, url, featured, ordering, created from before)
      union all
      (select id, project_id, url, featured, ordering, created from before
        except select id, project_id, url, featured, ordering, created from after)
    ) shown));
  return null;
end
$$;
create trigger search_gallery_updated after update on gallery_item
  referencing old table as before new table as after
  for each statement execute function search_gallery_updated();

-- Projects that show the owner of these teams: their own, and those of their organizations.
create function note_search_owners(team_ids text[]) returns void language plpgsql as $$
begin
  if team_ids is null then
    return;
  end if;
  perform note_search_change((
    select array_agg(project.id) from project
    where project.team_id = any(team_ids)
      or project.organization_id in (select id from organization where team_id = any(team_ids))));
end
$$;

create function search_owners_changed() returns trigger language plpgsql as $$
begin
  perform note_search_owners((select array_agg(team_id) from changed where is_owner));
  return null;
end
$$;
create trigger search_owner_inserted after insert on team_member referencing new table as changed
  for each statement execute function search_owners_changed();
create trigger search_owner_deleted after delete on team_member referencing old table as changed
  for each statement execute function search_owners_changed();

create function search_owners_updated() returns trigger language plpgsql as $$
begin
  perform note_search_owners((
    select array_agg(team_id) from (
      (select team_id, account_id from after where is_owner except select team_id, account_id from before where is_owner)
      union all
      (select team_id, account_id from before where is_owner except select team_id, account_id from after where is_owner)
    ) shown));
  return null;
end
$$;
create trigger search_owner_updated after update on team_member
  referencing old table as before new table as after
  for each statement execute function search_owners_updated();

create function search_account_renamed() returns trigger language plpgsql as $$
begin
  perform note_search_owners((select array_agg(team_id) from team_member where account_id = new.id and is_owner));
  return null;
end
$$;
create trigger search_account_renamed after update of username on account for each row
  when (old.username is distinct from new.username) execute function search_account_renamed();

create function search_organization_renamed() returns trigger language plpgsql as $$
begin
  perform note_search_change((select array_agg(id) from project where organization_id = new.id));
  return null;
end
$$;
create trigger search_organization_renamed after update of name, team_id on organization for each row
  when (old.name is distinct from new.name or old.team_id <> new.team_id) execute function search_organization_renamed();

-- Search indexes that all processes share: up to which moment the one that feeds it has followed the database. One row
-- for each index; the state is null until its first build is done.

create table search_index (
  name text collate "C" primary key,
  -- Counted up by each process that begins to feed the index, so that one before it writes here no more.
  holder bigint not null default 1,
  snapshot text,
  database text,
  basis text,
  -- The last request to rebuild (search_rebuild) that this index has met.
  rebuilt bigint not null default 0,
  identity text,
  constraint search_index_state_check check ((snapshot is null) = (database is null) and (snapshot is null) = (basis is null))
);
