-- Dependencies that lose every version that could be chosen for them, and reports about that.

-- Loaders on which a version runs. A modpack runs on the loaders of its index.
create function loaders_of(loaders text[], fields jsonb) returns text[] language sql immutable as $$
  select loaders || case jsonb_typeof(fields -> 'mrpack_loaders')
    when 'array' then array(select jsonb_array_elements_text(fields -> 'mrpack_loaders')) else '{}' end
$$;

-- Whether two versions have a common game version. A version without game versions fits every other.
create function share_game_version(a jsonb, b jsonb) returns boolean language sql immutable as $$
  select case when jsonb_typeof(a -> 'game_versions') = 'array' and jsonb_typeof(b -> 'game_versions') = 'array'
    then a -> 'game_versions' ?| array(select jsonb_array_elements_text(b -> 'game_versions')) else true end
$$;

-- Whether no version of a project can be chosen for a dependent with these loaders and fields. Loaders count if a version of
-- the project runs on a loader of the dependent: a mod can require a resource pack. With a lost version, also whether the
-- dependent could have used it.
create function lacks_version(needed_id text, lost_id text, lost_loaders text[], lost_fields jsonb,
  wanted_loaders text[], wanted_fields jsonb) returns boolean language sql stable as $$
  with wanted as (select loaders_of(wanted_loaders, wanted_fields) as loaders),
  candidate as (
    select version.id, version.fields, version.withdrawn_at is null as is_offered, version.loaders && wanted.loaders as runs
    from version, wanted where version.project_id = needed_id and is_listed(version.status)
  ), rule as (
    select coalesce(lost_loaders && wanted.loaders, false) as lost_runs,
      coalesce(lost_loaders && wanted.loaders, false) or exists (select from candidate where candidate.runs) as by_loader
    from wanted
  )
  select (lost_id is null or (not rule.by_loader or rule.lost_runs) and share_game_version(lost_fields, wanted_fields))
    and not exists (
      select from candidate where candidate.is_offered and candidate.id is distinct from lost_id
        and (not rule.by_loader or candidate.runs) and share_game_version(candidate.fields, wanted_fields))
  from rule
$$;

-- A required dependency of the newest version of a project that has broken.
create table dependency_break (
  id bigint generated always as identity primary key,
  project_id text collate "C" not null references project (id) on delete cascade,
  version_id text collate "C" not null references version (id) on delete cascade,
  -- The withdrawal, removal or hiding that broke it.
  cause text collate "C" not null,
  reason text not null,
  -- The project and the version that the dependency has lost. They might no longer exist.
  lost_project_id text collate "C" not null,
  lost_version_id text collate "C",
  created timestamptz not null default now(),
  -- When the members were notified; null until then.
  notified timestamptz,
  constraint dependency_break_reason_check check (reason in ('withdrawn', 'hidden', 'removed')),
  constraint dependency_break_project_id_cause_key unique (project_id, cause)
);
create index dependency_break_version_id_idx on dependency_break (version_id);
create index dependency_break_pending_idx on dependency_break (project_id) where notified is null;
create index dependency_break_notified_idx on dependency_break (project_id, notified) where notified is not null;
create index dependency_break_created_idx on dependency_break (created);

-- What a withdrawal or deletion would break, for a project with many dependents.
create table impact_report (
  id text collate "C" primary key,
  project_id text collate "C" not null references project (id) on delete cascade,
  request jsonb not null,
  -- Null until the job has finished.
  result jsonb,
  created timestamptz not null default now()
);
create index impact_report_project_id_idx on impact_report (project_id);
create index impact_report_created_idx on impact_report (created);
