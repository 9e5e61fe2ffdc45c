-- Notifications about a version or a project are deleted with it.
create index if not exists notification_version_idx on notification ((body ->> 'version_id')) where (body ->> 'version_id') is not null;
create index if not exists notification_project_idx on notification ((body ->> 'project_id')) where (body ->> 'project_id') is not null;
