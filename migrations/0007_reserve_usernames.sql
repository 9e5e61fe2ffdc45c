-- Names that accounts gave up by renaming. Until `expires`, only the former owner can use them again.
create table reserved_username (
  -- In lower case.
  username text primary key,
  account_id text collate "C" not null references account (id) on delete cascade,
  expires timestamptz not null
);
create index reserved_username_account_id_idx on reserved_username (account_id);
create index reserved_username_expires_idx on reserved_username (expires);

-- Names that projects, organizations and accounts had before. Pages with such a name lead to the present name for as long
-- as nothing else has the previous one.
create table previous_name (
  kind text not null,
  -- In lower case.
  name text collate "C" not null,
  project_id text collate "C" references project (id) on delete cascade,
  organization_id text collate "C" references organization (id) on delete cascade,
  account_id text collate "C" references account (id) on delete cascade,
  recorded timestamptz not null default now(),
  constraint previous_name_pkey primary key (kind, name),
  constraint previous_name_owner_check check (kind = case
    when num_nonnulls(project_id, organization_id, account_id) <> 1 then ''
    when project_id is not null then 'project'
    when organization_id is not null then 'organization'
    else 'account'
  end)
);
create index previous_name_project_id_idx on previous_name (project_id) where project_id is not null;
create index previous_name_organization_id_idx on previous_name (organization_id) where organization_id is not null;
create index previous_name_account_id_idx on previous_name (account_id) where account_id is not null;

-- A trigger, so that every writer records the name. The argument is the column of the name. Keeps the newest 20 names of
-- each owner, so that nobody can collect any number of them.
create function record_previous_name() returns trigger language plpgsql as $$
begin
  execute format('insert into previous_name (kind, name, %1$I) values ($1, lower($2), $3)
    on conflict (kind, name) do update set %1$I = excluded.%1$I, recorded = excluded.recorded', tg_table_name || '_id')
    using tg_table_name::text, to_jsonb(old) ->> tg_argv[0], new.id;
  execute format('delete from previous_name where %1$I = $1 and (name = lower($2) or name in (
    select name from previous_name where %1$I = $1 order by recorded desc, name offset 20))', tg_table_name || '_id')
    using new.id, to_jsonb(new) ->> tg_argv[0];
  return null;
end $$;
create trigger project_previous_name after update of slug on project for each row
  when (old.slug <> new.slug) execute function record_previous_name('slug');
create trigger organization_previous_name after update of slug on organization for each row
  when (old.slug <> new.slug) execute function record_previous_name('slug');
create trigger account_previous_name after update of username on account for each row
  when (lower(old.username) <> lower(new.username)) execute function record_previous_name('username');
