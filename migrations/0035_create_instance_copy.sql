-- What distinguishes this copy of the instance from those that were restored from its backups. Backups do not contain it.
create table instance_copy (
  only_row boolean primary key default true,
  -- Names this copy in the target of its backups, so that it deletes no backup of another copy.
  writer text collate "C" not null,
  -- Whether this copy was restored from a backup.
  restored boolean not null default false,
  -- When the copy was made to run no jobs and to send nothing; null if it does both.
  quiet_since timestamptz,
  -- When PostgreSQL last reported a damaged page or index; null after `depot doctor --fix` has found none.
  damaged_at timestamptz,
  constraint instance_copy_only_row_check check (only_row),
  constraint instance_copy_writer_check check (writer ~ '^[0-9A-Za-z]{16}$')
);
insert into instance_copy (writer) values (random_base62(16));
