-- Advisories: documents about versions and files that are known to be bad.

create function is_public_advisory(status text) returns boolean language sql immutable as $$
  select status in ('published', 'withdrawn')
$$;

create table advisory (
  id text collate "C" primary key,
  -- Null if it is only about files. No foreign key: an advisory remains true when the project is hidden or deleted.
  project_id text collate "C",
  author_id text collate "C" references account (id) on delete set null,
  status text not null default 'review',
  summary text not null,
  details text not null,
  aliases text[] not null default '{}',
  severity jsonb not null default '[]',
  reference_list jsonb not null default '[]',
  -- Whether its publication withdraws the versions.
  withdraws boolean not null default false,
  revision bigint not null default 1,
  created timestamptz not null,
  modified timestamptz not null,
  published timestamptz,
  retracted timestamptz,
  constraint advisory_status_check check (status in ('review', 'published', 'rejected', 'withdrawn')),
  constraint advisory_summary_check check (length(summary) <= 500)
);
create index advisory_project_id_idx on advisory (project_id, modified, id);
create index advisory_author_id_idx on advisory (author_id);
create index advisory_modified_idx on advisory (modified, id) where is_public_advisory(status);
create index advisory_review_idx on advisory (modified, id) where status = 'review';
create trigger advisory_revision before update on advisory for each row execute function raise_revision();

-- The last number of the IDs of each year. Its row makes creations at the same time wait for each other.
create table advisory_number (
  year integer primary key,
  last integer not null
);

create table advisory_version (
  advisory_id text collate "C" not null references advisory (id) on delete cascade,
  -- No foreign key: an advisory remains true when the version is deleted.
  version_id text collate "C" not null,
  -- As Maven metadata names it.
  name text not null,
  primary key (advisory_id, version_id)
);
create index advisory_version_version_id_idx on advisory_version (version_id);

-- The files of its versions, and files that no version has. SHA-1 or SHA-512, in lower case.
create table advisory_hash (
  advisory_id text collate "C" not null references advisory (id) on delete cascade,
  hash text collate "C" not null,
  primary key (advisory_id, hash)
);
create index advisory_hash_hash_idx on advisory_hash (hash);

-- Published advisories are in the change feed. They stay in it when they are withdrawn.
alter table public_change_note drop constraint public_change_note_kind_check,
  add constraint public_change_note_kind_check
    check (kind in ('project', 'version', 'user', 'organization', 'collection', 'advisory'));

create trigger feed_advisory_inserted after insert on advisory for each row
  when (is_public_advisory(new.status)) execute function public_subject_changed('advisory');
create trigger feed_advisory_updated after update on advisory for each row
  when (old.revision <> new.revision and (is_public_advisory(old.status) or is_public_advisory(new.status)))
  execute function public_subject_changed('advisory');
create trigger feed_advisory_deleted after delete on advisory for each row
  when (is_public_advisory(old.status)) execute function public_subject_changed('advisory');

-- The present state of subjects, for readers without an account. Subjects that do not exist have no row.
create or replace function public_states(kinds text[], ids text[])
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
  union all
  select 'advisory', advisory.id, null, is_public_advisory(advisory.status), advisory.revision
    from subject join advisory on advisory.id = subject.id where subject.kind = 'advisory'
$$;

-- Fills the feed with everything that is public at present and begins a new epoch: after a restore, and for a database
-- that is older than the feed.
create or replace function rebuild_public_changes() returns void language plpgsql as $$
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
    union all
    select 6, 'advisory', id, null, revision, modified from advisory where is_public_advisory(status)
  ) shown;
  update public_change_head set last = coalesce((select max(number) from public_change), 0);
end
$$;
