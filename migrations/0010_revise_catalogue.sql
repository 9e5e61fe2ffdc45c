-- The revision of a project, version, organization, collection, team or account counts the changes of its v3 JSON. Triggers
-- raise it for every write, also for writes to other tables whose rows the JSON contains. Counters (downloads, followers)
-- do not raise it, and neither do changes of users and projects that have their own revision inside the JSON.

alter table collection add column revision bigint not null default 1;
alter table team add column revision bigint not null default 1;

-- Raises the revision if a column changes whose name is not an argument of the trigger. A statement that only raises the
-- revision keeps its value.
create function raise_revision() returns trigger language plpgsql as $$
declare
  given constant bigint := new.revision;
  hidden constant text[] := coalesce(tg_argv, '{}');
begin
  new.revision := old.revision;
  if new is distinct from old and (to_jsonb(new) - hidden) <> (to_jsonb(old) - hidden) then
    new.revision := greatest(given, old.revision + 1);
  else
    new.revision := given;
  end if;
  return new;
end
$$;

-- The arguments are the columns that no view shows. Updates of counters are frequent, so their rows are not compared: a
-- statement that changes a counter changes nothing else.
create or replace trigger account_revision before update on account
  for each row execute function raise_revision('totp_last_step', 'password_hash');
-- Views show only whether the account has a password.
create trigger account_password_revision before update of password_hash on account for each row
  when ((old.password_hash is null) <> (new.password_hash is null)) execute function bump_revision();

create or replace trigger organization_revision before update on organization
  for each row execute function raise_revision();

create trigger collection_revision before update on collection for each row execute function raise_revision();

create or replace trigger project_revision before update on project for each row
  when (old.downloads = new.downloads and old.followers = new.followers)
  execute function raise_revision('imported_downloads', 'random_key');

create or replace trigger version_revision before update on version for each row
  when (old.downloads = new.downloads) execute function raise_revision('imported_downloads');

-- Locks the rows in the order of their keys, so that two transactions do not wait for each other.
create function raise_revisions(owners text, key text, keys text[]) returns void language plpgsql as $$
begin
  if cardinality(keys) > 0 then
    execute format('update %1$I set revision = revision + 1 where id in (
      select id from %1$I where %2$I = any($1) order by id for no key update)', owners, key) using keys;
  end if;
end
$$;

-- Arguments of these triggers: the table that shows the changed rows, its key, and the column that refers to the key.
create function raise_owners() returns trigger language plpgsql as $$
declare
  keys text[];
begin
  execute format('select array_agg(distinct %I) from changed', tg_argv[2]) into keys;
  perform raise_revisions(tg_argv[0], tg_argv[1], keys);
  return null;
end
$$;

create function raise_owners_updated() returns trigger language plpgsql as $$
declare
  keys text[];
begin
  execute format('select array_agg(distinct %I) from (
    (select * from after except select * from before) union all (select * from before except select * from after)
  ) changed', tg_argv[2]) into keys;
  perform raise_revisions(tg_argv[0], tg_argv[1], keys);
  return null;
end
$$;

create trigger revise_file_inserted after insert on file referencing new table as changed
  for each statement execute function raise_owners('version', 'id', 'version_id');
create trigger revise_file_updated after update on file referencing old table as before new table as after
  for each statement execute function raise_owners_updated('version', 'id', 'version_id');
create trigger revise_file_deleted after delete on file referencing old table as changed
  for each statement execute function raise_owners('version', 'id', 'version_id');

create trigger revise_dependency_inserted after insert on dependency referencing new table as changed
  for each statement execute function raise_owners('version', 'id', 'dependent_id');
create trigger revise_dependency_updated after update on dependency referencing old table as before new table as after
  for each statement execute function raise_owners_updated('version', 'id', 'dependent_id');
create trigger revise_dependency_deleted after delete on dependency referencing old table as changed
  for each statement execute function raise_owners('version', 'id', 'dependent_id');

create trigger revise_gallery_inserted after insert on gallery_item referencing new table as changed
  for each statement execute function raise_owners('project', 'id', 'project_id');
create trigger revise_gallery_updated after update on gallery_item referencing old table as before new table as after
  for each statement execute function raise_owners_updated('project', 'id', 'project_id');
create trigger revise_gallery_deleted after delete on gallery_item referencing old table as changed
  for each statement execute function raise_owners('project', 'id', 'project_id');

create trigger revise_thread_inserted after insert on thread referencing new table as changed
  for each statement execute function raise_owners('project', 'id', 'project_id');
create trigger revise_thread_deleted after delete on thread referencing old table as changed
  for each statement execute function raise_owners('project', 'id', 'project_id');

create trigger revise_collected_inserted after insert on collection_project referencing new table as changed
  for each statement execute function raise_owners('collection', 'id', 'collection_id');
create trigger revise_collected_updated after update on collection_project referencing old table as before new table as after
  for each statement execute function raise_owners_updated('collection', 'id', 'collection_id');
create trigger revise_collected_deleted after delete on collection_project referencing old table as changed
  for each statement execute function raise_owners('collection', 'id', 'collection_id');

-- The name of a trigger decides its turn: commands lock an organization before its team.
create trigger revise_member_1_inserted after insert on team_member referencing new table as changed
  for each statement execute function raise_owners('organization', 'team_id', 'team_id');
create trigger revise_member_1_updated after update on team_member referencing old table as before new table as after
  for each statement execute function raise_owners_updated('organization', 'team_id', 'team_id');
create trigger revise_member_1_deleted after delete on team_member referencing old table as changed
  for each statement execute function raise_owners('organization', 'team_id', 'team_id');
create trigger revise_member_2_inserted after insert on team_member referencing new table as changed
  for each statement execute function raise_owners('team', 'id', 'team_id');
create trigger revise_member_2_updated after update on team_member referencing old table as before new table as after
  for each statement execute function raise_owners_updated('team', 'id', 'team_id');
create trigger revise_member_2_deleted after delete on team_member referencing old table as changed
  for each statement execute function raise_owners('team', 'id', 'team_id');

-- A collection shows only the projects that the caller can see.
create function raise_collections() returns trigger language plpgsql as $$
begin
  perform raise_revisions('collection', 'id', (
    select array_agg(collection_id) from collection_project where project_id = new.id));
  return null;
end
$$;
create trigger revise_project_moved after update of status on project for each row
  when (old.status <> new.status) execute function raise_collections();

-- A project shows the IDs, loaders and loader fields of its listed and archived versions, by date.
create function raise_projects_of_versions() returns trigger language plpgsql as $$
begin
  perform raise_revisions('project', 'id', (
    select array_agg(distinct project_id) from changed where is_listed(status)));
  return null;
end
$$;
create function raise_projects_of_versions_updated() returns trigger language plpgsql as $$
begin
  perform raise_revisions('project', 'id', (
    select array_agg(distinct project_id) from (
      (select project_id, id, date_published, loaders, fields from after where is_listed(status)
        except select project_id, id, date_published, loaders, fields from before where is_listed(status))
      union all
      (select project_id, id, date_published, loaders, fields from before where is_listed(status)
        except select project_id, id, date_published, loaders, fields from after where is_listed(status))
    ) changed));
  return null;
end
$$;
create trigger revise_version_inserted after insert on version referencing new table as changed
  for each statement execute function raise_projects_of_versions();
create trigger revise_version_updated after update on version referencing old table as before new table as after
  for each statement execute function raise_projects_of_versions_updated();
create trigger revise_version_deleted after delete on version referencing old table as changed
  for each statement execute function raise_projects_of_versions();
