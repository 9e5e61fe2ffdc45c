-- What fair random choice, update checks, dependencies and galleries need beyond the tables of 0002.

-- A place of its own for each project on a line of 2^31 points. Random projects come from random stretches of it.
alter table project add column random_key integer not null default floor(random() * 2147483648)::integer;
create index project_random_idx on project (random_key) include (id) where status in ('approved', 'archived');

-- The order of a project's version list, so that its first entry is found without reading the rest.
create index version_listed_idx on version (project_id, ordering, date_published desc, id)
  where status in ('listed', 'archived');

-- The versions for a loader that few are for. Any others are found without it.
create index version_loaders_idx on version using gin (loaders) where status in ('listed', 'archived');

-- Dependencies of a project's versions are read from the index alone.
create index dependency_named_idx on dependency (dependent_id) include (version_id, project_id);
drop index dependency_dependent_id_idx;

-- The same picture once in a gallery: by its content, since each upload has an address of its own.
alter table gallery_item add column content_sha1 text collate "C";
update gallery_item set content_sha1 = coalesce(substring(raw_url from '([0-9a-f]{40})\.[a-z]+$'), id);
alter table gallery_item alter column content_sha1 set not null;
alter table gallery_item add constraint gallery_item_content_key unique (project_id, content_sha1);
