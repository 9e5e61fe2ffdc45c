-- The withdrawn versions of a project. Without the index, the search for broken dependencies reads every version of each
-- project that is required.

create index if not exists version_withdrawn_idx on version (project_id) where withdrawn_at is not null;
