-- What the catalogue shows, counted as it changes: projects that stand in search, their listed versions, the files of
-- these, and the people behind them. A count over everything would read millions of rows for one request.
--
-- Each change adds a row with its difference, so that no two writers ever wait for one counter; the counts are the sums.
-- A job adds the rows up from time to time. `catalogue_recount()` counts the catalogue itself: both must agree.

create table catalogue_change (
  id bigint generated always as identity primary key,
  projects bigint not null default 0,
  versions bigint not null default 0,
  files bigint not null default 0,
  authors bigint not null default 0
);

-- In how many teams with projects in search an account is an accepted member. Rows at 0 mean nothing.
create table author (
  account_id text collate "C" primary key,
  teams integer not null
);

-- Accounts come and go as authors in the order of their identifiers, so that two changes do not deadlock.
create function count_author(changed_account text, difference integer) returns void language plpgsql as $$
declare
  now_teams integer;
begin
  insert into author (account_id, teams) values (changed_account, difference)
    on conflict (account_id) do update set teams = author.teams + difference
    returning teams into now_teams;
  if now_teams = 0 then
    insert into catalogue_change (authors) values (-1);
  elsif now_teams = difference then
    insert into catalogue_change (authors) values (1);
  end if;
end
$$;

create function count_team(changed_team text, difference integer) returns void language plpgsql as $$
declare
  now_published integer;
begin
  if changed_team is null then
    return;
  end if;
  update team set published = published + difference where id = changed_team returning published into now_published;
  if now_published = 0 or now_published = difference then
    perform count_author(member.account_id, difference) from (
      select account_id from team_member where team_id = changed_team and accepted order by account_id) member;
  end if;
end
$$;

create function organization_team(owner_id text) returns text language sql stable as $$
  select team_id from organization where id = owner_id
$$;

-- A project enters (1) or leaves (-1) search, with all it shows.
create function count_project(changed project, difference integer) returns void language plpgsql as $$
begin
  insert into catalogue_change (projects, versions, files)
    select difference, difference * count(distinct version.id), difference * count(file.id)
    from version left join file on file.version_id = version.id
    where version.project_id = changed.id and is_listed(version.status);
  perform count_team(changed.team_id, difference);
  perform count_team(organization_team(changed.organization_id), difference);
end
$$;

create function project_counted() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    perform count_project(new, 1);
  elsif tg_op = 'DELETE' then
    perform count_project(old, -1);
    return old;
  elsif is_searchable(old.status) and is_searchable(new.status) then
    -- Its team never changes; its organization may.
    perform count_team(organization_team(old.organization_id), -1);
    perform count_team(organization_team(new.organization_id), 1);
  elsif is_searchable(old.status) then
    perform count_project(old, -1);
  else
    perform count_project(new, 1);
  end if;
  return new;
end
$$;

create trigger project_inserted after insert on project for each row
  when (is_searchable(new.status)) execute function project_counted();
create trigger project_moved after update of status, organization_id on project for each row
  when ((is_searchable(old.status) or is_searchable(new.status))
    and (is_searchable(old.status) <> is_searchable(new.status)
      or old.organization_id is distinct from new.organization_id))
  execute function project_counted();
-- Before, because its versions are still there.
create trigger project_deleted before delete on project for each row
  when (is_searchable(old.status)) execute function project_counted();

-- The status of a project, which stays what it is until this transaction ends; null when the project is gone, as it
-- is for versions that go with it.
create function held_status(held_project text) returns text language sql volatile as $$
  select status from project where id = held_project for no key update
$$;

create function versions_inserted() returns trigger language plpgsql as $$
begin
  insert into catalogue_change (versions)
    select count(*) from inserted
    where is_listed(inserted.status) and is_searchable(held_status(inserted.project_id))
    having count(*) > 0;
  return null;
end
$$;
create trigger version_inserted after insert on version referencing new table as inserted
  for each statement execute function versions_inserted();

create function version_counted() returns trigger language plpgsql as $$
declare
  difference constant integer := case when tg_op = 'DELETE' or is_listed(old.status) then -1 else 1 end;
begin
  if is_searchable(held_status(old.project_id)) then
    insert into catalogue_change (versions, files)
      select difference, difference * count(*) from file where version_id = old.id;
  end if;
  if tg_op = 'DELETE' then
    return old;
  end if;
  return new;
end
$$;
create trigger version_moved after update of status on version for each row
  when (is_listed(old.status) <> is_listed(new.status)) execute function version_counted();
-- Before, because its files are still there.
create trigger version_deleted before delete on version for each row
  when (is_listed(old.status)) execute function version_counted();

-- Storing a file holds its own project and no other. The planner may apply a condition on `version` before the join, so
-- that a function which locks, called in that condition, locked the projects of all versions: uploads to different
-- projects waited for each other, and deadlocked.
create function files_counted() returns trigger language plpgsql as $$
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
create trigger file_inserted after insert on file referencing new table as changed
  for each statement execute function files_counted();
create trigger file_deleted after delete on file referencing old table as changed
  for each statement execute function files_counted();

create function member_counted() returns trigger language plpgsql as $$
declare
  member constant team_member := case when tg_op = 'DELETE' then old else new end;
begin
  if (select published > 0 from team where id = member.team_id for no key update) then
    perform count_author(member.account_id, case when tg_op = 'DELETE' or not new.accepted then -1 else 1 end);
  end if;
  return null;
end
$$;
create trigger member_inserted after insert on team_member for each row
  when (new.accepted) execute function member_counted();
create trigger member_accepted after update of accepted on team_member for each row
  when (old.accepted <> new.accepted) execute function member_counted();
create trigger member_deleted after delete on team_member for each row
  when (old.accepted) execute function member_counted();

-- Counts everything, for checks.
create function catalogue_recount(out projects bigint, out versions bigint, out files bigint, out authors bigint)
language sql stable as $$
  with shown as (select id, team_id, organization_id from project where is_searchable(status)),
  listed as (select version.id from version join shown on shown.id = version.project_id where is_listed(version.status)),
  teams as (
    select team_id from shown union
    select organization.team_id from organization join shown on shown.organization_id = organization.id)
  select
    (select count(*) from shown),
    (select count(*) from listed),
    (select count(*) from file join listed on listed.id = file.version_id),
    (select count(distinct account_id) from team_member join teams using (team_id) where accepted)
$$;

-- How far the download counters in `project` and `version` have followed the recorded events. One row: which store of
-- events they follow, and how far. Written in the transaction that moves the counters, so that a crash between the two
-- stores loses and doubles nothing.
create table download_ledger (
  only_row boolean primary key default true,
  store_id text,
  -- Every batch that the store has stored before this instant of its own clock, in milliseconds, has been taken in.
  caught_up_to bigint not null default 0,
  -- Counters are shown again from then on, whichever process does it.
  show_after timestamptz not null default now(),
  -- The store was replaced or restored: what the counters have beyond its events becomes `imported_downloads`.
  needs_rebase boolean not null default false,
  constraint download_ledger_only_row_check check (only_row)
);
insert into download_ledger default values;

-- Downloads reach the counters of projects and versions in two steps, so that counting waits for no row that a command
-- holds, and announces a change no more often than people can notice.
--
-- 1. A stored batch of events adds its downloads to `download_pending`, in the transaction that notes its ID in
--    `download_batch`: whoever comes with the same batch again adds nothing, and several processes may come at once.
-- 2. Every now and then one process moves what is pending into `project.downloads` and `version.downloads`.

create table download_batch (
  id text collate "C" primary key,
  applied timestamptz not null default now(),
  -- The ledger's `caught_up_to` has passed it: from then on it only keeps a late repetition out.
  is_passed boolean not null default false,
  constraint download_batch_id_check check (char_length(id) between 1 and 64)
);
create index download_batch_applied_idx on download_batch (applied);
create index download_batch_open_idx on download_batch (id) where not is_passed;

-- Names no rows of other tables: a foreign key would wait for whoever holds them.
create table download_pending (
  version_id text collate "C" primary key,
  project_id text collate "C" not null,
  downloads bigint not null,
  constraint download_pending_downloads_check check (downloads > 0)
);
create index download_pending_project_id_idx on download_pending (project_id);

-- A project or version that is inserted with downloads has them from elsewhere: no event stands for them.
create function keep_imported_downloads() returns trigger language plpgsql as $$
begin
  new.imported_downloads := new.downloads;
  return new;
end
$$;
create trigger project_imported before insert on project for each row
  when (new.downloads > 0) execute function keep_imported_downloads();
create trigger version_imported before insert on version for each row
  when (new.downloads > 0) execute function keep_imported_downloads();
