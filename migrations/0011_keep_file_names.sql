-- An address of a file that ever answered bytes never answers others: caches on the way keep them for a year. So a name
-- stays with its bytes for as long as its version exists, also after the file is deleted. Another version has another
-- ID, and with it other addresses.

create table file_address (
  version_id text collate "C" not null references version (id) on delete cascade,
  filename text not null,
  sha512 text collate "C" not null,
  constraint file_address_key primary key (version_id, filename)
);

insert into file_address (version_id, filename, sha512) select version_id, filename, sha512 from file;

-- A trigger, so that it holds whichever release inserts the file. The row is locked by the update that changes nothing:
-- of two uploads at once, the second sees the bytes of the first.
create function keep_file_address() returns trigger language plpgsql as $$
declare
  kept text;
begin
  insert into file_address (version_id, filename, sha512) values (new.version_id, new.filename, new.sha512)
    on conflict (version_id, filename) do update set sha512 = file_address.sha512
    returning sha512 into kept;
  if kept <> new.sha512 then
    raise unique_violation using
      constraint = 'file_address_key',
      message = 'The name was used for other bytes in this version';
  end if;
  return null;
end $$;
create trigger file_address_kept after insert on file for each row execute function keep_file_address();
