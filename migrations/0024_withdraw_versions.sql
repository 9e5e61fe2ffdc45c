-- Withdrawn versions: they stay in lists and can be downloaded, but nothing that chooses a version chooses them.

alter table version
  add column withdrawn_kind text,
  add column withdrawn_reason text,
  -- Another version of the project, which users should install instead.
  add column withdrawn_replacement text collate "C",
  -- Null: the version is not withdrawn.
  add column withdrawn_at timestamptz;

alter table version
  add constraint version_withdrawn_kind_check
    check (withdrawn_kind in ('broken', 'security', 'legal', 'superseded')),
  add constraint version_withdrawn_check
    check ((withdrawn_at is null and num_nonnulls(withdrawn_kind, withdrawn_reason, withdrawn_replacement) = 0)
      or (withdrawn_at is not null and num_nonnulls(withdrawn_kind, withdrawn_reason) = 2)),
  add constraint version_withdrawn_replacement_fkey foreign key (withdrawn_replacement)
    references version (id) on delete set null;

create index version_withdrawn_replacement_idx on version (withdrawn_replacement) where withdrawn_replacement is not null;

-- Hits do not name withdrawn versions.
create or replace function search_versions_updated() returns trigger language plpgsql as $$
begin
  perform note_search_change((
    select array_agg(project_id) from (
      (select project_id, id, status, date_published, loaders, fields, withdrawn_at from after where is_listed(status)
        except select project_id, id, status, date_published, loaders, fields, withdrawn_at from before where is_listed(status))
      union all
      (select project_id, id, status, date_published, loaders, fields, withdrawn_at from before where is_listed(status)
        except select project_id, id, status, date_published, loaders, fields, withdrawn_at from after where is_listed(status))
    ) shown));
  return null;
end
$$;
