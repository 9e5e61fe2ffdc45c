-- The change feed: one row per project, version, user, organization and collection that is or was public, numbered in the
-- order of the commits. Triggers note what a transaction changes. Numbers are assigned after the commit, because
-- transactions commit in another order than they begin, so that a reader who sees a number has seen all smaller ones.

-- Subjects that changed and have no number yet. Writers add rows and never wait for each other.
create table public_change_note (
  kind text not null,
  subject_id text collate "C" not null,
  transaction xid8 not null default pg_current_xact_id(),
  primary key (transaction, kind, subject_id),
  constraint public_change_note_kind_check check (kind in ('project', 'version', 'user', 'organization', 'collection'))
);

create table public_change (
  kind text not null,
  subject_id text collate "C" not null,
  number bigint not null,
  -- The project of a version.
  project_id text collate "C",
  is_present boolean not null,
  -- Of the subject when it was numbered; of its last state if it was removed.
  revision bigint not null,
  changed timestamptz not null,
  primary key (kind, subject_id),
  constraint public_change_number_key unique (number)
);
-- A page has the next rows of each kind.
create index public_change_kind_idx on public_change (kind, number);
create index public_change_project_id_idx on public_change (project_id) where project_id is not null;
create index public_change_removed_idx on public_change (changed) where not is_present;

-- One row, which the process that assigns numbers locks.
create table public_change_head (
  only_row boolean primary key default true,
  -- Cursors of another epoch are not valid. It changes when this database may have lost commits that a reader has seen.
  epoch text not null,
  last bigint not null default 0,
  -- The highest number of a removed subject that was deleted from the feed.
  forgotten bigint not null default 0,
  -- Identifies the database: the cluster, its timeline and the database in it.
  database text not null,
  constraint public_change_head_only_row_check check (only_row),
  constraint public_change_head_epoch_check check (epoch ~ '^[0-9A-Za-z]{8}$')
);

create function random_base62(length integer) returns text language sql volatile as $$
  select string_agg(substr('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz', 1 + floor(random() * 62)::int, 1), '')
  from generate_series(1, length)
$$;

-- A restore from a dump and a failover to a standby change it.
create function public_change_database() returns text language sql stable as $$
  select concat_ws('.', (select system_identifier from pg_control_system()),
    (select timeline_id from pg_control_checkpoint()),
    (select oid from pg_database where datname = current_database()), 'public_change'::regclass::oid)
$$;

create function note_public_change(changed_kind text, changed_id text) returns void language sql volatile as $$
  insert into public_change_note (kind, subject_id) values (changed_kind, changed_id) on conflict do nothing
$$;

-- The argument is the kind. Every change of the v3 JSON raises the revision, so nothing else needs to be compared.
create function public_subject_changed() returns trigger language plpgsql as $$
begin
  perform note_public_change(tg_argv[0], case when tg_op = 'DELETE' then old.id else new.id end);
  return null;
end
$$;

create trigger feed_project_inserted after insert on project for each row
  when (is_searchable(new.status)) execute function public_subject_changed('project');
create trigger feed_project_updated after update on project for each row
  when (old.revision <> new.revision and (is_searchable(old.status) or is_searchable(new.status)))
  execute function public_subject_changed('project');
create trigger feed_project_deleted after delete on project for each row
  when (is_searchable(old.status)) execute function public_subject_changed('project');

-- Whatever the status of their project: it may change at the same time.
create trigger feed_version_inserted after insert on version for each row
  when (is_listed(new.status)) execute function public_subject_changed('version');
create trigger feed_version_updated after update on version for each row
  when (old.revision <> new.revision and (is_listed(old.status) or is_listed(new.status)))
  execute function public_subject_changed('version');
create trigger feed_version_deleted after delete on version for each row
  when (is_listed(old.status)) execute function public_subject_changed('version');

create trigger feed_collection_inserted after insert on collection for each row
  when (new.status = 'listed') execute function public_subject_changed('collection');
create trigger feed_collection_updated after update on collection for each row
  when (old.revision <> new.revision and 'listed' in (old.status, new.status))
  execute function public_subject_changed('collection');
create trigger feed_collection_deleted after delete on collection for each row
  when (old.status = 'listed') execute function public_subject_changed('collection');

-- An organization is public while it has a public project. A new one has none.
create trigger feed_organization_updated after update on organization for each row
  when (old.revision <> new.revision) execute function public_subject_changed('organization');
create trigger feed_organization_deleted after delete on organization for each row
  execute function public_subject_changed('organization');

create function public_owner_changed() returns trigger language plpgsql as $$
begin
  if tg_op <> 'INSERT' and old.organization_id is not null then
    perform note_public_change('organization', old.organization_id);
  end if;
  if tg_op <> 'DELETE' and new.organization_id is not null then
    perform note_public_change('organization', new.organization_id);
  end if;
  return null;
end
$$;
create trigger feed_owner_inserted after insert on project for each row
  when (is_searchable(new.status) and new.organization_id is not null) execute function public_owner_changed();
create trigger feed_owner_updated after update of status, organization_id on project for each row
  when (is_searchable(old.status) <> is_searchable(new.status) or old.organization_id is distinct from new.organization_id)
  execute function public_owner_changed();
create trigger feed_owner_deleted after delete on project for each row
  when (is_searchable(old.status) and old.organization_id is not null) execute function public_owner_changed();

-- A user is public while they are an author of something public.
create trigger feed_account_updated after update on account for each row
  when (old.revision <> new.revision) execute function public_subject_changed('user');
create trigger feed_account_deleted after delete on account for each row execute function public_subject_changed('user');

create function public_author_changed() returns trigger language plpgsql as $$
begin
  perform note_public_change('user', case when tg_op = 'DELETE' then old.account_id else new.account_id end);
  return null;
end
$$;
create trigger feed_author_inserted after insert on author for each row
  when (new.teams > 0) execute function public_author_changed();
create trigger feed_author_updated after update on author for each row
  when ((old.teams > 0) <> (new.teams > 0)) execute function public_author_changed();
create trigger feed_author_deleted after delete on author for each row
  when (old.teams > 0) execute function public_author_changed();

-- The present state of subjects, for readers without an account. Subjects that do not exist have no row.
create function public_states(kinds text[], ids text[])
returns table (kind text, subject_id text, project_id text, is_present boolean, revision bigint)
language sql stable as $$
  with subject as (select * from unnest(kinds, ids) as subject (kind, id))
  select 'project', project.id, null, is_searchable(project.status), project.revision
    from subject join project on project.id = subject.id where subject.kind = 'project'
  union all
  select 'version', version.id, version.project_id, is_listed(version.status) and is_searchable(project.status), version.revision
    from subject join version on version.id = subject.id join project on project.id = version.project_id
    where subject.kind = 'version'
  union all
  select 'user', account.id, null, account.deletion_due is null and coalesce(author.teams, 0) > 0, account.revision
    from subject join account on account.id = subject.id left join author on author.account_id = account.id
    where subject.kind = 'user'
  union all
  select 'organization', organization.id, null,
      exists (select from project where organization_id = organization.id and is_searchable(status)), organization.revision
    from subject join organization on organization.id = subject.id where subject.kind = 'organization'
  union all
  select 'collection', collection.id, null, collection.status = 'listed', collection.revision
    from subject join collection on collection.id = subject.id where subject.kind = 'collection'
$$;

-- Gives these subjects the next numbers, in this order. Subjects that never were public get none, and neither do those
-- whose state and revision are in the feed already. Returns the projects that became public or stopped being public.
create function number_subjects(kinds text[], ids text[]) returns setof text language sql volatile as $$
  with changed as (
    select subject.kind, subject.id, subject.place, state.project_id, coalesce(state.is_present, false) as is_present,
      state.revision, coalesce(known.is_present, false) as was_present
    from unnest(kinds, ids) with ordinality as subject (kind, id, place)
    left join public_states(kinds, ids) state on state.kind = subject.kind and state.subject_id = subject.id
    left join public_change known on known.kind = subject.kind and known.subject_id = subject.id
    where case when coalesce(state.is_present, false)
      then known.is_present is distinct from true or known.revision <> state.revision
      else known.is_present end
  ), head as (
    update public_change_head set last = last + (select count(*) from changed)
    where exists (select from changed) returning last
  ), numbered as (
    insert into public_change (kind, subject_id, number, project_id, is_present, revision, changed)
    select kind, id, (select last from head) - count(*) over () + row_number() over (order by place), project_id, is_present,
      coalesce(revision, 1), now()
    from changed
    on conflict (kind, subject_id) do update set number = excluded.number,
      project_id = coalesce(excluded.project_id, public_change.project_id), is_present = excluded.is_present,
      revision = case when excluded.is_present then excluded.revision else public_change.revision end,
      changed = excluded.changed
  )
  select id from changed where kind = 'project' and is_present <> was_present
$$;

-- Numbers up to `batch` noted subjects, in the order in which their transactions began. The versions of a project that
-- becomes public or stops being public follow it in the same transaction. Returns false if nothing was left to do, or if
-- another process is doing it.
create function number_public_changes(batch integer) returns boolean language plpgsql as $$
declare
  head public_change_head;
  noted_kinds text[];
  noted_ids text[];
  moved text[];
begin
  if not exists (select from public_change_note) then
    return false;
  end if;
  select * into head from public_change_head for update skip locked;
  if not found then
    return false;
  end if;
  if head.database <> public_change_database() then
    update public_change_head set epoch = random_base62(8), database = public_change_database();
  end if;
  with taken as (
    delete from public_change_note
    where (transaction, kind, subject_id) in (
      select transaction, kind, subject_id from public_change_note order by transaction limit batch)
    returning kind, subject_id, transaction
  ), subject as (
    select kind, subject_id, max(transaction) as transaction from taken group by kind, subject_id
  )
  select array_agg(kind order by transaction, kind = 'version', kind, subject_id),
    array_agg(subject_id order by transaction, kind = 'version', kind, subject_id)
  into noted_kinds, noted_ids from subject;
  if noted_ids is null then
    return false;
  end if;

  moved := array(select number_subjects(noted_kinds, noted_ids));
  if cardinality(moved) > 0 then
    with version_of_moved as (
      select version.id from version where version.project_id = any(moved) and is_listed(version.status)
      union
      select subject_id from public_change where project_id = any(moved) and is_present
    )
    select array_agg('version'::text), array_agg(id order by id) into noted_kinds, noted_ids from version_of_moved;
    perform number_subjects(noted_kinds, noted_ids);
  end if;
  return true;
end
$$;

-- Fills the feed with everything that is public at present and begins a new epoch: after a restore, and for a database
-- that is older than the feed.
create function rebuild_public_changes() returns void language plpgsql as $$
begin
  delete from public_change_head;
  insert into public_change_head (epoch, database) values (random_base62(8), public_change_database());
  delete from public_change_note;
  delete from public_change;
  insert into public_change (kind, subject_id, number, project_id, is_present, revision, changed)
  select kind, subject_id, row_number() over (order by place, changed, subject_id), project_id, true, revision, now()
  from (
    select 1 as place, 'user' as kind, account.id as subject_id, null as project_id, account.revision, account.created as changed
      from account join author on author.account_id = account.id where author.teams > 0 and account.deletion_due is null
    union all
    select 2, 'organization', organization.id, null, organization.revision, organization.created from organization
      where exists (select from project where organization_id = organization.id and is_searchable(status))
    union all
    select 3, 'project', id, null, revision, updated from project where is_searchable(status)
    union all
    select 4, 'version', version.id, version.project_id, version.revision, version.date_published
      from version join project on project.id = version.project_id
      where is_listed(version.status) and is_searchable(project.status)
    union all
    select 5, 'collection', id, null, revision, updated from collection where status = 'listed'
  ) shown;
  update public_change_head set last = coalesce((select max(number) from public_change), 0);
end
$$;
select rebuild_public_changes();
