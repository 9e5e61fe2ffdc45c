-- Maven coordinates: the version that got a number first keeps it, also after it is deleted, because build tools cache files.
create table version_coordinate (
  project_id text collate "C" not null,
  version_number text not null,
  -- The version can be deleted.
  version_id text collate "C" not null,
  constraint version_coordinate_pkey primary key (project_id, version_number),
  constraint version_coordinate_project_id_fkey foreign key (project_id) references project (id) on delete cascade
);

create or replace function claim_version_coordinate() returns trigger language plpgsql as $$
begin
  insert into version_coordinate (project_id, version_number, version_id)
    values (new.project_id, new.version_number, new.id) on conflict do nothing;
  return null;
end
$$;
create trigger version_coordinate_inserted after insert on version
  for each row when (is_listed(new.status)) execute function claim_version_coordinate();
create trigger version_coordinate_updated after update of status, version_number on version
  for each row when (is_listed(new.status) and (not is_listed(old.status) or old.version_number <> new.version_number))
  execute function claim_version_coordinate();

insert into version_coordinate (project_id, version_number, version_id)
  select distinct on (project_id, version_number) project_id, version_number, id from version
  where is_listed(status) order by project_id, version_number, date_published, id;
